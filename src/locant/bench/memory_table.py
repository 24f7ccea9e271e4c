"""Peak memory of one long forward pass with masks, dropout, half precision, vectors by distance."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from locant import positions
from locant.attention import attend, plan
from locant.bench.alone import Unmeasured, added_megabytes, alone
from locant.bench.bench_options import BenchOptions
from locant.bench.result_table import Cell, Table, megabytes
from locant.encodings.registry import make

HEADS, WIDTH = 2, 32
LENGTH, QUICK = 16384, 1024


@dataclass(frozen=True)
class Line:
    """A kind of attention.

    mask  "none", "padding" on the left, or "packed", four sequences in a row
    """

    name: str
    encoding: str
    mask: str = "none"
    dropout: float = 0.0
    dtype: torch.dtype = torch.float32


LINES = [
    Line("plain", "none"),
    Line("rotary", "rotary"),
    Line("rotary, padded", "rotary", mask="padding"),
    Line("rotary, packed", "rotary", mask="packed"),
    Line("rotary, dropout", "rotary", dropout=0.1),
    Line("t5", "t5"),
    Line("t5, padded", "t5", mask="padding"),
    Line("t5, bfloat16", "t5", dtype=torch.bfloat16),
    Line("shaw", "shaw"),
]


def tables(options: BenchOptions) -> list[Table]:
    length = QUICK if options.quick else LENGTH
    rows: list[tuple[str, list[Cell]]] = []
    for line in LINES:
        options.report(f"memory of {line.name} at {length:,}")
        try:
            added, backend = alone(_measure, options.threads, line, length)
        except Unmeasured as problem:
            options.report(f"memory of {line.name} at {length:,}: {problem}")
            continue
        rows.append((line.name, [megabytes(added), backend]))
    title = f"Memory of causal attention, forward, {length:,} tokens, {HEADS} heads of {WIDTH}"
    note = (
        "MB is what one pass adds at its peak, beside queries, keys, values and the mask that is "
        "given."
    )
    return [Table("memory", title, ["adds", "backend"], rows, note)]


def _measure(line: Line, length: int) -> tuple[float | None, str]:
    encoding = make(line.encoding, dim=HEADS * WIDTH, heads=HEADS, length=length).to(line.dtype)
    q, k, v = (torch.randn(1, HEADS, length, WIDTH).to(line.dtype) for _ in range(3))
    pos, mask = _positions_and_mask(line.mask, length)

    def run(tokens: int) -> Tensor:
        some = slice(length - tokens, length)
        seen = mask
        if mask is not None:
            seen = mask[..., some] if mask.shape[-2] == 1 else mask[..., some, some]
        tensors = (tensor[..., some, :] for tensor in (q, k, v))
        where = {"q_pos": pos[some], "k_pos": pos[some], "mask": seen, "dropout": line.dropout}
        return attend(*tensors, encoding=encoding, causal=True, **where)  # type: ignore[arg-type]

    with torch.no_grad():
        run(64)  # what torch loads once is not counted
        added = added_megabytes(lambda: run(length))
        chosen = plan(
            encoding,
            length,
            causal=True,
            mask=mask,
            dropout=line.dropout,
            pos=pos,
            dtype=line.dtype,
        )
    return added, chosen.backend


def _positions_and_mask(mask: str, length: int) -> tuple[Tensor, Tensor | None]:
    """Return the positions and the mask of a kind of attention."""
    if mask == "padding":
        padding_mask = torch.arange(length)[None, None, None] >= length // 4
        return torch.arange(length), padding_mask
    if mask == "packed":
        packed = positions.packed([length // 4] * 4)
        return packed.positions, packed.mask
    return torch.arange(length), None
