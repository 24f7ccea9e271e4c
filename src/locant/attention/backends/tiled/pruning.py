"""Which keys can matter to a block of queries; the weights of the others vanish in floating point.

    weight(i, j) = exp(q_i·k_j + bias(i, j) − ℓ_i),  ℓ_i = log Σ exp
                 ≤ exp(|q_i|·|k_j| + bias(i, j) − ℓ_i)

so a block of keys whose bound lies under `vanishing_exponent` is left out: most keys under a steep
bias, and all that a mask hides. Weights under it count as 0. That also avoids subnormal numbers,
with which a processor may be a hundred times slower: so small a weight, times a gradient, would be
one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

KEY_BLOCK = 256  # keys that are kept or pruned together
MIN_KEYS_TO_PRUNE = 1024  # fewer are all kept: finding out would cost more


def vanishing_exponent(dtype: torch.dtype) -> float:
    """Give the exponent under which a weight counts as 0.

    >>> round(vanishing_exponent(torch.float32)), round(vanishing_exponent(torch.float64))
    (-61, -496)
    """
    return 0.7 * math.log(torch.finfo(dtype).tiny)


class KeyRange(NamedTuple):
    """A range of keys that may matter, and the key blocks in which weights may vanish."""

    first: int
    last: int
    fading: list[bool]

    def fades(self, first: int, last: int) -> bool:
        """Say whether weights of these keys may count as 0."""
        return any(self.fading[first // KEY_BLOCK : -(-last // KEY_BLOCK)])

    def clipped(self, first: int, last: int) -> KeyRange:
        """Clip to keys `first` (where a key block begins) to `last`, counted from `first`."""
        low, high = min(max(self.first, first), last), min(self.last, last)
        fading = self.fading[first // KEY_BLOCK : -(-last // KEY_BLOCK)]
        return KeyRange(low - first, max(low, high) - first, fading)


def longest_keys(k: Tensor, v: Tensor) -> Tensor:
    """Give the largest norm in each block of keys: (B, H, K, d) → (B, H, blocks).

    It is NaN where a value is NaN, so that such a block is never pruned.
    """
    return _blocks(k.norm(dim=-1) + 0 * v.sum(-1), 0.0).amax(-1)


class Bounds(NamedTuple):
    """Bounds of all scores of a query block in each block of keys: (B, H, blocks) both."""

    lower: Tensor
    upper: Tensor


def score_bounds(bias: Tensor, longest_q: Tensor, longest_k: Tensor, start: int = 0) -> Bounds:
    """Bound the scores under a bias (1|B, 1|H, queries, keys) that begins at key `start`.

    longest_q  (B, H): norms of queries that have been scaled
    longest_k  (B, H, blocks): of all keys
    """
    lowest, highest = _extremes(bias)
    before = start // KEY_BLOCK
    content = (
        longest_q[..., None] * longest_k[..., before : before + highest.shape[-1]]
    )  # at most so far
    return Bounds(lowest - content, highest + content)


def ranges_within(bounds: Bounds, low: Tensor, high: Tensor, keys: int) -> list[list[KeyRange]]:
    """Find the keys that each batch row and head needs if the queries' ℓ lie in low..high (B,
    H)."""
    nothing = vanishing_exponent(bounds.lower.dtype)
    batch, heads, blocks = bounds.upper.shape
    matter = ~(bounds.upper - low[..., None] < nothing) & (
        bounds.upper != -math.inf
    )  # a NaN matters
    fading = ~(bounds.lower - high[..., None] > nothing)
    block = torch.arange(blocks)
    last = ((torch.where(matter, block, -1).amax(-1) + 1) * KEY_BLOCK).clamp_max(keys)
    first = (torch.where(matter, block, blocks).amin(-1) * KEY_BLOCK).minimum(last)
    parts = (part.expand(batch, heads, *part.shape[2:]).tolist() for part in (first, last, fading))
    return [[KeyRange(*one) for one in zip(*row, strict=True)] for row in zip(*parts, strict=True)]


def ranges_in_piece(
    bias: Tensor, longest_q: Tensor, longest_k: Tensor, start: int, low: Tensor, high: Tensor
) -> list[list[KeyRange]]:
    """Find the keys of a key piece that each batch row and head needs; arguments as above."""
    keys, (batch, heads) = bias.shape[-1], longest_q.shape
    highest = float(longest_q.max() * longest_k.max() + high.max())
    for numbers in (bias[..., :1, ::KEY_BLOCK], _without_repeats(bias)):  # a sample often decides
        if not float(numbers.amin()) - highest > vanishing_exponent(bias.dtype):
            return ranges_within(score_bounds(bias, longest_q, longest_k, start), low, high, keys)
    return [[KeyRange(0, keys, [False] * -(-keys // KEY_BLOCK))] * heads] * batch


def key_ranges(
    bias: Tensor, longest_q: Tensor, longest_k: Tensor, logs: tuple[Tensor, Tensor] | None
) -> list[list[KeyRange]]:
    """Find what each batch row and head needs of all keys; arguments as in `score_bounds`.

    logs  the lowest and the highest ℓ of these queries, (B, H) each; None when they are not known
          yet: a bound
          serves then, and which weights vanish is unknown
    """
    keys, batch, heads = bias.shape[-1], *longest_q.shape
    every_key = KeyRange(0, keys, [True] * -(-keys // KEY_BLOCK))
    if keys <= MIN_KEYS_TO_PRUNE:
        return [[every_key] * heads] * batch
    bounds = score_bounds(bias, longest_q, longest_k)
    low, high = logs or [bounds.lower.amax(-1)] * 2
    found = ranges_within(bounds, low, high, keys)
    return [[one if one.first < one.last else every_key for one in row] for row in found]


def _without_repeats(bias: Tensor) -> Tensor:
    """Drop the copies that a broadcast dimension only pretends to have."""
    return bias[tuple(slice(0, 1) if step == 0 else slice(None) for step in bias.stride())]


def _extremes(bias: Tensor) -> tuple[Tensor, Tensor]:
    """Find the lowest and the highest number in each block of keys: (1|B, 1|H, blocks) both."""
    queries, keys = bias.shape[-2:]
    if bias.stride()[-2:] != (1, 1):
        return _blocks(bias.amin(-2), math.inf).amin(-1), _blocks(bias.amax(-2), -math.inf).amax(-1)
    line = bias.as_strided(
        (*bias.shape[:2], queries + keys - 1), (*bias.stride()[:2], 1)
    )  # equal diagonals
    blocks, wide = -(-keys // KEY_BLOCK), KEY_BLOCK + queries - 1
    missing = (blocks - 1) * KEY_BLOCK + wide - line.shape[-1]
    low = pad(line, (0, missing), value=math.inf).unfold(-1, wide, KEY_BLOCK)
    high = pad(line, (0, missing), value=-math.inf).unfold(-1, wide, KEY_BLOCK)
    return low.amin(-1), high.amax(-1)


def _blocks(numbers: Tensor, value: float) -> Tensor:
    """Cut (…, keys) into (…, blocks, KEY_BLOCK), the last block filled up with `value`."""
    return pad(numbers, (0, -numbers.shape[-1] % KEY_BLOCK), value=value).unflatten(
        -1, (-1, KEY_BLOCK)
    )
