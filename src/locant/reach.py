"""Which keys can matter to a few queries: the others' weights vanish beside what a float can tell from nothing.

    weight(i, j) = exp(q_i·k_j + bias(i, j) − ℓ_i),  ℓ_i = log Σ exp
                 ≤ exp(|q_i|·|k_j| + bias(i, j) − ℓ_i)

so a block of keys whose bound lies under `least` is left out: under a steep bias most keys, and under a mask what nobody
may see. Weights under it count as 0. That keeps away from subnormal numbers too, with which a processor may be a hundred
times slower: so small a weight, times a gradient, would be one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

WIDTH = 256  # keys that are kept or left out together
FEW = 1024  # keys; so few are all taken, for less than finding out would cost


def least(dtype: torch.dtype) -> float:
    """The exponent under which a weight counts as nothing.

    >>> round(least(torch.float32)), round(least(torch.float64))
    (-61, -496)
    """
    return 0.7 * math.log(torch.finfo(dtype).tiny)


class Span(NamedTuple):
    """The keys from the first that may matter to the last, and in which of all blocks some weights may count as 0."""

    first: int
    last: int
    fading: list[bool]

    def fades(self, first: int, last: int) -> bool:
        """Whether weights of these keys may count as 0."""
        return any(self.fading[first // WIDTH : -(-last // WIDTH)])


def lengths(vectors: Tensor) -> Tensor:
    """The longest of each block of keys: (B, H, K, d) to (B, H, blocks)."""
    return _blocks(vectors.norm(dim=-1), 0.0).amax(-1)


def spans(bias: Tensor, longest_q: Tensor, longest_k: Tensor, logs: tuple[Tensor, Tensor] | None) -> list[list[Span]]:
    """What each batch row and head can reach.

    bias       (1|B, 1|H, rows, keys)
    longest_q  (B, H), of queries that have been scaled; longest_k (B, H, blocks)
    logs       the least and the greatest ℓ of these rows, (B, H) each; None when not known yet: a bound serves then
    """
    keys, batch, heads = bias.shape[-1], *longest_q.shape
    whole = Span(0, keys, [True] * -(-keys // WIDTH))
    if keys <= FEW:
        return [[whole] * heads] * batch
    lowest, highest = _extremes(bias)
    far = longest_q[..., None] * longest_k[..., : highest.shape[-1]]  # (B, H, blocks): what content can do at most
    low, high = logs or [(lowest - far).amax(-1)] * 2
    nothing = least(bias.dtype)
    matter = ~(highest + far - low[..., None] < nothing) & (highest != -math.inf)  # a NaN matters
    fading = ~(lowest - far - high[..., None] > nothing)
    block = torch.arange(matter.shape[-1])
    first = torch.where(matter, block, len(block)).amin(-1) * WIDTH
    last = ((torch.where(matter, block, -1).amax(-1) + 1) * WIDTH).clamp_max(keys)
    told = (tensor.expand(batch, heads, *tensor.shape[2:]).tolist() for tensor in (first, last, fading))
    return [
        [Span(*one) if one[0] < one[1] else whole for one in zip(*row, strict=True)] for row in zip(*told, strict=True)
    ]


def _extremes(bias: Tensor) -> tuple[Tensor, Tensor]:
    """The lowest and the highest number of all rows in each block of keys: (1|B, 1|H, blocks) both."""
    rows, keys = bias.shape[-2:]
    if bias.stride()[-2:] != (1, 1):
        return _blocks(bias.amin(-2), math.inf).amin(-1), _blocks(bias.amax(-2), -math.inf).amax(-1)
    line = bias.as_strided((*bias.shape[:2], rows + keys - 1), (*bias.stride()[:2], 1))  # equal diagonals
    blocks, wide = -(-keys // WIDTH), WIDTH + rows - 1
    missing = (blocks - 1) * WIDTH + wide - line.shape[-1]
    low, high = (pad(line, (0, missing), value=value).unfold(-1, wide, WIDTH) for value in (math.inf, -math.inf))
    return low.amin(-1), high.amax(-1)


def _blocks(numbers: Tensor, value: float) -> Tensor:
    """(…, keys) to (…, blocks, WIDTH); what is missing in the last block is `value`."""
    return pad(numbers, (0, -numbers.shape[-1] % WIDTH), value=value).unflatten(-1, (-1, WIDTH))
