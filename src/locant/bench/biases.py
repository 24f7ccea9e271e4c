"""Attention with a bias from positions against plain fused attention, by length.

Forward and backward, one row, 8 heads of 64. Every cell is measured in a process of its own, by
turns with plain attention. A "materialized" bias is an (H,Q,K) tensor that is given to torch's
attention, as most libraries do; computing it is part of every pass, on all lines, and so is reading
the states of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from locant.attention import attend
from locant.bench.alone import Unmeasured, added_megabytes, alone
from locant.bench.bench_options import BenchOptions
from locant.bench.ratio import Ratio, Work, over, turns
from locant.bench.result_table import Cell, Cost, Table, megabytes
from locant.encodings.hooks import sense
from locant.encodings.registry import make

HEADS, WIDTH = 8, 64


@dataclass(frozen=True)
class Line:
    """A kind of bias, and up to which length it is measured."""

    name: str
    encoding: str
    most: int
    causal: bool = True
    irregular: bool = False
    batch: int = 1  # rows; of more than one, each is padded to another length
    backend: str = "auto"
    options: Mapping[str, Any] | None = None  # of the encoding
    lengths: tuple[int, ...] = ()  # at which it is measured, where not at all up to `most`

    def measured_at(self, length: int) -> bool:
        return length <= self.most and (not self.lengths or length in self.lengths)


@dataclass(frozen=True)
class BenchResult:
    """One kind of bias at one length: its ratio to plain attention, and the cost of one pass."""

    line: str
    length: int
    ratio: Ratio
    seconds: float
    megabytes: float | None


PLAIN = Line("plain, causal", "none", 16384)
SHORT_AND_LONG = (1024, 8192)
SECOND_SHELF = [  # causal
    Line("kerple, log", "kerple", 8192, lengths=SHORT_AND_LONG),
    Line("kerple, power", "kerple", 8192, options={"kernel": "power"}, lengths=SHORT_AND_LONG),
    Line("sandwich", "sandwich", 8192, lengths=SHORT_AND_LONG),
    Line("dynamic", "dynamic", 8192, lengths=SHORT_AND_LONG),
    Line("swin, one axis", "swin", 8192, lengths=SHORT_AND_LONG),
    Line("log_cpb, one axis", "log_cpb", 8192, lengths=SHORT_AND_LONG),
    Line("fire (by positions)", "fire", 8192, lengths=SHORT_AND_LONG),
    Line("forgetting (by the tokens)", "forgetting", 8192, lengths=SHORT_AND_LONG),
    Line("inkling (by the tokens)", "inkling", 8192, lengths=SHORT_AND_LONG),
]
LINES = [
    PLAIN,
    Line("t5, causal", "t5", 16384),
    Line("t5, causal, materialized", "t5", 4096, backend="fused"),
    Line("relative, causal", "relative", 8192),
    Line("alibi, causal", "alibi", 16384),
    Line("alibi, causal, materialized", "alibi", 2048, backend="fused"),
    Line("t5, causal, 4 padded rows", "t5", 4096, batch=4),
    Line("t5, both sides", "t5", 4096, causal=False),
    Line("relative, both sides", "relative", 4096, causal=False),
    Line("t5, causal, uneven positions", "t5", 4096, irregular=True),
    Line("relative, both sides, uneven positions", "relative", 4096, causal=False, irregular=True),
    Line(
        "relative, both sides, uneven positions, no distance clipped",
        "relative",
        4096,
        causal=False,
        irregular=True,
        options={"max_distance": 3 * 4096},
    ),
    Line("alibi, causal, real time stamps", "alibi", 4096, irregular=True),
    Line("alibi, both sides, real time stamps", "alibi", 4096, causal=False, irregular=True),
    *SECOND_SHELF,
]
LENGTHS, QUICK = (512, 1024, 2048, 4096, 8192, 16384), (256, 1024)


def tables(options: BenchOptions) -> list[Table]:
    return [table(measure(options), QUICK if options.quick else LENGTHS)]


def measure(options: BenchOptions) -> list[BenchResult]:
    """Measure every line at each of its lengths."""
    found = []
    for line in LINES:
        for length in QUICK if options.quick else LENGTHS:
            if line.measured_at(length):
                options.report(f"{line.name} at {length:,}")
                try:
                    found.append(alone(_measure, options.threads, line, length, options.seconds))
                except Unmeasured as problem:
                    options.report(f"{line.name} at {length:,}: {problem}")
    return found


def table(found: list[BenchResult], lengths: tuple[int, ...]) -> Table:
    """Arrange results in a table, lines against lengths."""
    by = {(one.line, one.length): one for one in found}

    def cell(line: Line, length: int) -> Cell:
        one = by.get((line.name, length))
        if one is None:
            return "–"
        return megabytes(one.megabytes) if line == PLAIN else Cost(one.ratio, one.megabytes)

    rows: list[tuple[str, list[Cell]]] = [
        (line.name, [cell(line, length) for length in lengths]) for line in LINES
    ]
    title = (
        "Attention with a bias, forward + backward, × plain fused attention without a mask: "
        f"{HEADS} heads of {WIDTH}"
    )
    drawn = [line.name for line in LINES if line.most == LENGTHS[-1] or line.backend != "auto"]
    series = {
        name: [(one.length, one.seconds, one.megabytes) for one in found if one.line == name]
        for name in drawn
    }
    columns = [f"{length:,}" for length in lengths]
    note = "MB is what one pass adds at its peak."
    return Table("biases", title, columns, rows, note, series)


def _measure(line: Line, length: int, seconds: float) -> BenchResult:
    plain = Line("", "none", length, causal=line.causal, batch=line.batch)
    ours, theirs = _work(line, length), _work(plain, length)
    _work(line, 64)()  # what torch loads once is not counted
    added = added_megabytes(ours)
    found = turns(
        {"ours": ours} if line == PLAIN else {"ours": ours, "plain": theirs},
        seconds=seconds,
        warm=1,
    )
    ratio = over(found["ours"], found.get("plain", found["ours"]))
    return BenchResult(line.name, length, ratio, median(found["ours"]), added)


def _work(line: Line, length: int) -> Work:
    options = line.options or {}
    encoding = make(line.encoding, dim=HEADS * WIDTH, heads=HEADS, length=length, **options)
    x = torch.randn(line.batch, length, HEADS * WIDTH)  # what states are read from
    size = (line.batch, HEADS, length, WIDTH)
    q, k, v = (torch.randn(size, requires_grad=True) for _ in range(3))
    grad, leaves = torch.randn(size), [q, k, v, *encoding.parameters()]
    pos = _uneven(length, encoding.real_positions) if line.irregular else torch.arange(length)

    lengths = length - torch.arange(line.batch) * length // 8
    mask = (torch.arange(length) < lengths[:, None])[:, None, None, :] if line.batch > 1 else None
    mask = None if line.encoding == "none" else mask

    def run() -> None:
        states = sense(encoding, x, pos)
        out = attend(
            q,
            k,
            v,
            encoding=encoding,
            q_pos=pos,
            k_pos=pos,
            causal=line.causal,
            mask=mask,
            backend=line.backend,
            q_state=None if states is None else states.q,
            k_state=None if states is None else states.k,
        )
        torch.autograd.grad(out, leaves, grad)

    return run


def _uneven(length: int, real: bool) -> torch.Tensor:
    """Time stamps, or, for a table, whole numbers with gaps."""
    return (torch.rand(length) if real else torch.randint(1, 4, (length,))).cumsum(0)
