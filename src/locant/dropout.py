"""Dropout, exact or quick. On a CPU drawing the random numbers costs more than all else in a small model."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn

from locant.errors import one_of, share

SOURCES = ("fresh", "pool")
POOL = 1 << 22  # masks are windows into so many numbers, each from a place drawn anew


class PooledDropout(nn.Dropout):
    """Dropout whose mask is a random window of one pool of numbers drawn once.

    The share that is dropped is the same; masks of different calls overlap in the pool, which exact dropout's never do.

    >>> drop = PooledDropout(0.25)
    >>> kept = drop(torch.ones(400, 100))
    >>> kept.unique().tolist(), bool(abs(kept.mean() - 1) < 0.02)
    ([0.0, 1.3333333730697632], True)
    """

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        count = x.numel()
        pool = _pool(self.p, max(POOL, 2 * count), x.dtype, x.device)
        start = int(torch.randint(len(pool) - count + 1, ()))
        return x * pool[start : start + count].view(x.shape)


def make_dropout(owner: str, dropped: float, source: str = "fresh") -> nn.Dropout:
    """Dropout by its share, with numbers drawn "fresh" in every call or from a "pool"."""
    dropped = share(owner, "dropout", dropped)
    return PooledDropout(dropped) if one_of(owner, "dropout_from", source, SOURCES) == "pool" else nn.Dropout(dropped)


@cache
def _pool(dropped: float, size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    kept = torch.rand(size, generator=generator) >= dropped
    return (kept.to(dtype) / (1 - dropped)).to(device)
