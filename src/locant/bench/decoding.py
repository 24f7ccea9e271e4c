"""`Attention.step`: one new token over a cache of keys, with each encoding that can keep its keys, against none.

Both sides project the token and copy the cache to add the new key and value to it.
"""

from __future__ import annotations

import torch

from locant.bench.alone import added_megabytes, alone
from locant.bench.asked import Asked
from locant.bench.ratio import Ratio, Work, ratios
from locant.bench.table import Cell, Table, megabytes
from locant.catalog import claiming, make
from locant.self_attention import Attention, Cache

HEADS, WIDTH = 8, 64


def tables(asked: Asked) -> list[Table]:
    keys = 512 if asked.quick else 8192
    asked.tell(f"decoding over {keys:,} keys")
    rows: list[tuple[str, list[Cell]]] = [
        (name, [ratio, megabytes(added)]) for name, ratio, added in alone(_measure, asked.threads, keys, asked.seconds)
    ]
    title = f"One new token over {keys:,} cached keys, × none: one row, {HEADS} heads of {WIDTH}"
    return [Table("decoding", title, ["× none", "adds"], rows)]


def _measure(keys: int, seconds: float) -> list[tuple[str, Ratio, float | None]]:
    names = ["none", *(name for name in claiming("cacheable_keys") if name != "none")]
    work = {name: _work(name, keys) for name in names}
    found = ratios(work, "none", seconds=seconds)
    return [(name, found[name], added_megabytes(work[name])) for name in names]


def _work(name: str, keys: int) -> Work:
    encoding = make(name, dim=HEADS * WIDTH, heads=HEADS, length=keys + 1)
    layer = Attention(encoding).eval()
    x, first = torch.randn(1, 1, HEADS * WIDTH), torch.randn(1, 2, HEADS * WIDTH)
    with torch.no_grad():
        _, small = layer.step(first, torch.arange(2))  # how wide an encoding's keys are
    k, v = (torch.randn(1, HEADS, keys, part.shape[-1]) for part in (small.k, small.v))
    cache, pos = Cache(k, v, torch.arange(keys)), torch.tensor([keys])

    def run() -> None:
        with torch.no_grad():
            layer.step(x, pos, cache)

    return run
