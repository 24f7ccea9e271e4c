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

    def clipped(self, first: int, last: int) -> Span:
        """The part from `first`, where a block begins, up to `last`, counted from `first`."""
        low, high = min(max(self.first, first), last), min(self.last, last)
        return Span(low - first, max(low, high) - first, self.fading[first // WIDTH : -(-last // WIDTH)])


def lengths(k: Tensor, v: Tensor) -> Tensor:
    """The longest of each block of keys, (B, H, K, d) to (B, H, blocks); NaN where a value is no number, so that it matters."""
    return _blocks(k.norm(dim=-1) + 0 * v.sum(-1), 0.0).amax(-1)


class Bounds(NamedTuple):
    """Between which all scores of a few queries lie in each block of keys: (B, H, blocks) both."""

    least: Tensor
    most: Tensor


def score_bounds(bias: Tensor, longest_q: Tensor, longest_k: Tensor, start: int = 0) -> Bounds:
    """Of scores under a bias (1|B, 1|H, rows, keys) whose first key is the one at `start`, where a block begins.

    longest_q  (B, H), of queries that have been scaled; longest_k (B, H, blocks), of all keys
    """
    lowest, highest = _extremes(bias)
    before = start // WIDTH
    far = longest_q[..., None] * longest_k[..., before : before + highest.shape[-1]]  # what content can do at most
    return Bounds(lowest - far, highest + far)


def within(bounds: Bounds, low: Tensor, high: Tensor, keys: int) -> list[list[Span]]:
    """What each batch row and head can reach, if the queries' ℓ lie from low up to high, (B, H) each; it may be nothing."""
    nothing, (batch, heads, blocks) = least(bounds.least.dtype), bounds.most.shape
    matter = ~(bounds.most - low[..., None] < nothing) & (bounds.most != -math.inf)  # a NaN matters
    fading = ~(bounds.least - high[..., None] > nothing)
    block = torch.arange(blocks)
    last = ((torch.where(matter, block, -1).amax(-1) + 1) * WIDTH).clamp_max(keys)
    first = (torch.where(matter, block, blocks).amin(-1) * WIDTH).minimum(last)
    told = (tensor.expand(batch, heads, *tensor.shape[2:]).tolist() for tensor in (first, last, fading))
    return [[Span(*one) for one in zip(*row, strict=True)] for row in zip(*told, strict=True)]


def of_piece(
    bias: Tensor, longest_q: Tensor, longest_k: Tensor, start: int, low: Tensor, high: Tensor
) -> list[list[Span]]:
    """What each batch row and head can reach of a piece of the keys, as in `score_bounds` and `within`."""
    keys, (batch, heads) = bias.shape[-1], longest_q.shape
    highest = float(longest_q.max() * longest_k.max() + high.max())
    for numbers in (bias[..., :1, ::WIDTH], _once(bias)):  # a few often tell already that some weights may vanish
        if not float(numbers.amin()) - highest > least(bias.dtype):
            return within(score_bounds(bias, longest_q, longest_k, start), low, high, keys)
    return [[Span(0, keys, [False] * -(-keys // WIDTH))] * heads] * batch


def spans(bias: Tensor, longest_q: Tensor, longest_k: Tensor, logs: tuple[Tensor, Tensor] | None) -> list[list[Span]]:
    """What each batch row and head can reach of all keys, arguments as in `score_bounds`.

    logs  the least and the greatest ℓ of these rows, (B, H) each; None when not known yet: a bound serves then, and which
          weights may count as 0 is not told
    """
    keys, batch, heads = bias.shape[-1], *longest_q.shape
    whole = Span(0, keys, [True] * -(-keys // WIDTH))
    if keys <= FEW:
        return [[whole] * heads] * batch
    bounds = score_bounds(bias, longest_q, longest_k)
    low, high = logs or [bounds.least.amax(-1)] * 2
    found = within(bounds, low, high, keys)
    return [[one if one.first < one.last else whole for one in row] for row in found]


def _once(bias: Tensor) -> Tensor:
    """The same numbers, without those that stand for a whole row, column or matrix of equal ones."""
    return bias[tuple(slice(0, 1) if step == 0 else slice(None) for step in bias.stride())]


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
