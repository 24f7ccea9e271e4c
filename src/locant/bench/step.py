"""Forward and backward of a transformer with each encoding, as a multiple of the same with none."""

from __future__ import annotations

import torch

from locant.attention.planning import plan
from locant.bench.alone import added_megabytes, alone
from locant.bench.bench_options import BenchOptions
from locant.bench.ratio import Ratio, Work, ratios
from locant.bench.result_table import Cell, Table, megabytes
from locant.encodings.base import Encoding
from locant.encodings.registry import make, names
from locant.nn.transformer import Transformer
from locant.positions import consecutive

DIM, HEADS, LAYERS, BATCH = 128, 8, 4, 8


def tables(options: BenchOptions) -> list[Table]:
    length = 64 if options.quick else 256
    options.report("a transformer with each encoding")
    found = alone(_measure, options.threads, length, 4 * options.seconds)
    rows: list[tuple[str, list[Cell]]] = [
        (name, [ratio, megabytes(mb), backend]) for name, ratio, mb, backend in found
    ]
    sizes = f"dim {DIM}, {HEADS} heads, length {length}, {LAYERS} layers, batch {BATCH}"
    title = f"Forward + backward of a transformer, × none: {sizes}"
    return [Table("step", title, ["× none", "adds", "backend"], rows)]


def _measure(length: int, seconds: float) -> list[tuple[str, Ratio, float | None, str]]:
    ordered = ["none", *(name for name in names() if name != "none")]
    made = {name: make(name, dim=DIM, heads=HEADS, length=length) for name in ordered}
    made["rotary, interleaved"] = make("rotary", dim=DIM, heads=HEADS, pairing="interleaved")
    work = {name: _work(encoding, length) for name, encoding in made.items()}
    found = ratios(work, "none", seconds=seconds)
    return [
        (name, found[name], added_megabytes(work[name]), plan(made[name], length).backend)
        for name in made
    ]


def _work(encoding: Encoding, length: int) -> Work:
    model = Transformer(encoding, layers=LAYERS)
    x, pos = torch.randn(BATCH, length, DIM), consecutive(length)
    parameters = list(model.parameters())
    return lambda: torch.autograd.grad(model(x, pos).square().mean(), parameters)
