"""Dropout, exact or fast: on a CPU the random numbers cost more than the rest of a small model."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

from locant._internal.checks import one_of, share

SOURCES = ("fresh", "bits", "pool")
BITS = 16
POOL = 1 << 22  # numbers in a pool; each mask is a window that starts at a random index


class BitDropout(nn.Dropout):
    """Dropout that takes 16 fresh random bits for each number.

    It is as independent as torch's and several times faster on a CPU. The probability is rounded to
    1/65,536.

    >>> drop = BitDropout(0.25)
    >>> drop(torch.ones(400, 100)).unique().tolist()
    [0.0, 1.3333333730697632]
    """

    def forward(self, x: Tensor) -> Tensor:
        steps = min(round(self.p * 2**BITS), 2**BITS - 1)
        if not self.training or not steps:
            return x
        return x * _kept(x, steps - 2 ** (BITS - 1), 1 / (1 - steps / 2**BITS))


class PooledDropout(nn.Dropout):
    """Dropout whose mask is a random window of one pool that is drawn once.

    The probability is the same, but masks of different calls overlap in the pool; those of exact
    dropout never do.

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
    """Make dropout of a probability: torch's own ("fresh"), or from 16 random "bits" or a
    "pool"."""
    kinds = {"fresh": nn.Dropout, "bits": BitDropout, "pool": PooledDropout}
    return kinds[one_of(owner, "dropout_from", source, SOURCES)](share(owner, "dropout", dropped))


def _kept(x: Tensor, edge: int, factor: float) -> Tensor:
    """Draw a mask of x's shape: `factor` where 16 random bits, as an int16, are `edge` or more,
    else 0.

    The bits follow torch's seed. On a CPU numpy draws and compares them: it draws three times as
    fast as torch, and turns booleans into floats half as fast again.
    """
    count = -(-x.numel() // 4)  # words of 64 bits
    if x.device.type != "cpu":
        words = torch.empty(count, dtype=torch.int64, device=x.device).random_(-(2**63), None)
        return (words.view(torch.int16)[: x.numel()].view(x.shape) >= edge).to(x.dtype).mul_(factor)
    drawn = (
        np.random.SFC64(int(torch.randint(2**62, ()))).random_raw(count).view(np.int16)[: x.numel()]
    )
    real = np.float64 if x.dtype == torch.float64 else np.float32
    return torch.from_numpy((drawn >= edge) * real(factor)).view(x.shape).to(x.dtype)


@cache
def _pool(dropped: float, size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    kept = torch.rand(size, generator=generator) >= dropped
    return (kept.to(dtype) / (1 - dropped)).to(device)
