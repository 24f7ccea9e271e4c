"""A T5 encoder of transformers with locant's attention swapped in: time and peak memory."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch

from locant.bench.alone import added_megabytes, alone
from locant.bench.bench_options import BenchOptions
from locant.bench.ratio import Ratio, ratios
from locant.bench.result_table import Cell, Table, megabytes

LENGTH, QUICK = 4096, 512
SIZES: dict[str, Any] = {  # those of t5-small
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 2048,
    "num_heads": 8,
    "num_layers": 6,
}
OWN, SWAPPED = "transformers, sdpa", "the same, swapped"


def tables(options: BenchOptions) -> list[Table]:
    if find_spec("transformers") is None:
        options.report("the T5 encoder: not measured, transformers is not installed")
        return []
    length = QUICK if options.quick else LENGTH
    options.report(f"a T5 encoder at {length:,} tokens")
    found = alone(_time, options.threads, length, 4 * options.seconds)
    rows: list[tuple[str, list[Cell]]] = []
    for name in (OWN, SWAPPED):
        options.report(f"memory of a T5 encoder at {length:,} tokens: {name}")
        added = alone(_memory, options.threads, length, name)
        rows.append((name, [found[name], megabytes(added)]))
    sizes = f"{SIZES['num_layers']} layers, {SIZES['num_heads']} heads of {SIZES['d_kv']}"
    title = f"A T5 encoder of transformers, forward, {length:,} tokens, {sizes}"
    note = "MB is what one pass adds at its peak. Both have the same weights and the same bias."
    return [Table("t5", title, [f"× {OWN}", "adds"], rows, note)]


def _model() -> Any:
    from transformers import T5Config, T5EncoderModel

    torch.manual_seed(0)
    model = T5EncoderModel(T5Config(vocab_size=256, **SIZES)).eval()
    model.set_attn_implementation("sdpa")
    return model


def _swap(model: Any) -> Any:
    from locant.encodings.registry import make
    from locant.hf.swapping.swap_encoding import swap

    heads = SIZES["num_heads"]
    encoding = make("t5", dim=heads * SIZES["d_kv"], heads=heads)
    own = model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias
    encoding.table.data = own.weight.data.clone()
    return swap(model, encoding)


def _time(length: int, seconds: float) -> dict[str, Ratio]:
    own, other = _model(), _model()
    _swap(other)
    ids = torch.randint(0, 256, (1, length))
    with torch.no_grad():
        apart = (own(ids)[0] - other(ids)[0]).abs().max()
        if apart > 1e-3:
            raise ValueError(f"the outputs differ by {apart:.2g}")
        return ratios({OWN: lambda: own(ids), SWAPPED: lambda: other(ids)}, OWN, seconds=seconds)


def _memory(length: int, name: str) -> float | None:
    model = _model()
    if name == SWAPPED:
        _swap(model)
    ids = torch.randint(0, 256, (1, length))
    with torch.no_grad():
        model(ids[:, :64])  # what torch loads once is not counted
        return added_megabytes(lambda: model(ids))
