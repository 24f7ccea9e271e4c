"""One training step of a transformer with each encoding, as a multiple of the same step with none."""

from __future__ import annotations

import torch

from locant.attention import choose
from locant.bench.alone import added_megabytes, alone
from locant.bench.asked import Asked
from locant.bench.ratio import Ratio, Work, ratios
from locant.bench.table import Cell, Table, megabytes
from locant.catalog import make, names
from locant.encodings.base import Encoding
from locant.model import Transformer
from locant.placing import place
from locant.positions import consecutive

DIM, HEADS, LAYERS, BATCH = 128, 8, 4, 8


def tables(asked: Asked) -> list[Table]:
    length = 64 if asked.quick else 256
    asked.tell("a training step of each encoding")
    found = alone(_measure, asked.threads, length, 4 * asked.seconds)
    rows: list[tuple[str, list[Cell]]] = [(name, [ratio, megabytes(mb), path]) for name, ratio, mb, path in found]
    title = f"A training step, × none: dim {DIM}, {HEADS} heads, length {length}, {LAYERS} layers, batch {BATCH}"
    return [Table("step", title, ["× none", "adds", "path"], rows)]


def _measure(length: int, seconds: float) -> list[tuple[str, Ratio, float, str]]:
    made = {name: make(name, dim=DIM, heads=HEADS, length=length) for name in ("none", *set(names()) - {"none"})}
    made = dict(sorted(made.items(), key=lambda entry: (entry[0] != "none", entry[0])))
    made["rotary, interleaved"] = make("rotary", dim=DIM, heads=HEADS, pairing="interleaved")
    work = {name: _work(encoding, length) for name, encoding in made.items()}
    found = ratios(work, "none", seconds=seconds)
    return [(name, found[name], added_megabytes(work[name]), _path(made[name], length)) for name in made]


def _work(encoding: Encoding, length: int) -> Work:
    model = Transformer(encoding, layers=LAYERS)
    x, pos = torch.randn(BATCH, length, DIM), consecutive(length)
    parameters = list(model.parameters())
    return lambda: torch.autograd.grad(model(x, pos).square().mean(), parameters)


def _path(encoding: Encoding, length: int) -> str:
    """Which way attention goes, as `locant.plan` tells it."""
    q, pos = torch.randn(BATCH, HEADS, length, DIM // HEADS), consecutive(length)
    return choose(place(encoding, pos, pos, like=q), *encoding.rotate(q, q, pos, pos)).path
