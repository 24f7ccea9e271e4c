"""Peak memory of long passes: masks, dropout, half precision, vectors by distance; packed rows."""

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
PACKED, COUNTS, QUICK_PACKED, QUICK_COUNTS = 2048, (4, 8, 16), 256, (4,)
PACKED_ENCODINGS = ("none", "rotary", "t5", "alibi")


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
    return [Table("memory", title, ["adds", "backend"], rows, note), _packed_table(options)]


def _packed_table(options: BenchOptions) -> Table:
    """Measure rows of packed sequences that attention knows by their lengths."""
    length = QUICK_PACKED if options.quick else PACKED
    counts = QUICK_COUNTS if options.quick else COUNTS
    rows: list[tuple[str, list[Cell]]] = []
    for name in PACKED_ENCODINGS:
        for causal in (True,) if options.quick else (False, True):
            kind = f"{name}, causal" if causal else name
            options.report(f"memory of packed sequences: {kind}")
            cells: list[Cell] = []
            for count in counts:
                added = alone(_measure_packed, options.threads, name, causal, count, length)
                cells.append(megabytes(added))
            rows.append((kind, cells))
    title = (
        f"Memory of packed sequences of {length:,} tokens, forward and backward, "
        f"{HEADS} heads of {WIDTH}"
    )
    note = "The mask is the sequences' lengths (positions.packed(…).segments): no (T,T) tensor."
    columns = [f"{count} in a row" for count in counts]
    return Table("packed", title, columns, rows, note)


def _measure_packed(name: str, causal: bool, count: int, length: int) -> float | None:
    encoding = make(name, dim=HEADS * WIDTH, heads=HEADS, length=length)

    def run(count: int) -> None:
        packing = positions.packed([length] * count)
        pos = packing.positions
        q, k, v = (torch.randn(1, HEADS, len(pos), WIDTH, requires_grad=True) for _ in range(3))
        where = {"encoding": encoding, "q_pos": pos, "k_pos": pos, "causal": causal}
        out = attend(q, k, v, **where, mask=packing.segments)  # type: ignore[arg-type]
        torch.autograd.grad(out.sum(), [q, k, v, *encoding.parameters()], allow_unused=True)

    run(1)  # what torch loads once is not counted
    return added_megabytes(lambda: run(count))


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
