"""`Attention.step`: one new token over a cache of keys, with each encoding that can cache keys.

Every step projects the token, writes its key and value behind the old ones and attends to all of
them. "copied" goes on from one and the same cache at every step, so that the cache is copied each
time, as a concatenated cache always is.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from locant.attention.kv_cache import Cache
from locant.attention.layer import Attention
from locant.bench.alone import added_megabytes, alone
from locant.bench.bench_options import BenchOptions
from locant.bench.ratio import MAX_TURNS, Ratio, Work, ratios
from locant.bench.result_table import Cell, Table, megabytes
from locant.encodings.base import senses
from locant.encodings.registry import claiming, make

HEADS, WIDTH = 8, 64
AHEAD = MAX_TURNS + 10  # steps that are done in all, at most
GROUPED = 2  # key heads, of those rows that share them


class DecodingResult(NamedTuple):
    """One encoding's decoding step."""

    name: str
    ratio: Ratio
    kept: float  # megabytes of keys and values
    added: float | None  # megabytes that a step adds


def tables(options: BenchOptions) -> list[Table]:
    keys = 512 if options.quick else 8192
    options.report(f"decoding over {keys:,} keys")
    found = alone(_measure, options.threads, keys, options.seconds)
    rows: list[tuple[str, list[Cell]]] = [
        (one.name, [one.ratio, megabytes(one.kept), megabytes(one.added)]) for one in found
    ]
    title = f"One new token over {keys:,} cached keys, × none: one row, {HEADS} heads of {WIDTH}"
    note = (
        "Reading keys and values is most of the work; pope's keys are twice as wide as the others'."
    )
    return [Table("decoding", title, ["× none", "keys and values", "adds"], rows, note)]


def _measure(keys: int, seconds: float) -> list[DecodingResult]:
    names = ["none", *(name for name in claiming("cacheable_keys") if name != "none")]
    steps = {name: Steps(name, keys) for name in names}
    steps |= {f"rotary, {GROUPED} key heads": Steps("rotary", keys, key_heads=GROUPED)}
    work: dict[str, Work] = {name: one.go_on for name, one in steps.items()}
    work["none, copied"] = steps["none"].start_again
    steps["none, copied"] = steps["none"]
    found = ratios(work, "none", seconds=seconds)
    return [
        DecodingResult(name, found[name], steps[name].megabytes, added_megabytes(work[name]))
        for name in work
    ]


class Steps:
    """A layer that goes on, token by token, from so many keys."""

    def __init__(self, name: str, keys: int, key_heads: int = HEADS) -> None:
        encoding = make(name, dim=HEADS * WIDTH, heads=HEADS, length=keys + AHEAD)
        self.layer = Attention(encoding, kv_heads=key_heads).eval()
        self.x, first = torch.randn(1, 1, HEADS * WIDTH), torch.randn(1, 2, HEADS * WIDTH)
        with torch.no_grad():
            _, small = self.layer.step(first, torch.arange(2))  # how wide an encoding's keys are
        k, v = (torch.randn(1, key_heads, keys, part.shape[-1]) for part in (small.k, small.v))
        pos, state = torch.arange(keys), None
        if senses(encoding):
            with torch.no_grad():
                state = encoding.sense(torch.randn(1, keys, HEADS * WIDTH), pos)
        self.first = self.cache = Cache(k, v, pos, state)

    @property
    def megabytes(self) -> float:
        return sum(part.nbytes for part in (self.first.k, self.first.v)) / 2**20

    def go_on(self) -> None:
        self.cache = self._step(self.cache)

    def start_again(self) -> None:
        self._step(self.first)

    def _step(self, cache: Cache) -> Cache:
        with torch.no_grad():
            return self.layer.step(self.x, cache.pos[-1:] + 1, cache)[1]
