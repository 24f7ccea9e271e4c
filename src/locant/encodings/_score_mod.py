"""The bias of an encoding as a `score_mod` of torch's flex_attention: a lookup by distance.

    score_mod(score, b, h, i, j) = score + table[h, distance of query i and key j]

The table holds one number for each head and each distance that occurs between the positions, so
memory grows with length, and a gradient reaches what the bias was computed from.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from locant.encodings.base import Encoding, need_tensors, overrides, senses
from locant.positions import evenly_spaced, visible

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
MAX_DISTANCES = 1 << 20  # that a table may hold, or as many as there are pairs


def make_score_mod(encoding: Encoding, q_pos: Tensor, k_pos: Tensor) -> ScoreMod | None:
    """Make the score_mod of an encoding at these positions; None when it adds nothing."""
    need_tensors(q_pos, k_pos)
    name = type(encoding).__name__
    if reason := _refusal(encoding):
        raise ValueError(
            f"{name} cannot be a score_mod: {reason}.\n  locant.attend computes it all the same."
        )
    if not overrides(encoding, "bias"):
        return None
    if not (visible(q_pos) and visible(k_pos)):
        raise ValueError(
            "a score_mod is made from the values of the positions: make it outside the traced "
            "function."
        )
    if encoding.axes == 1 and q_pos.numel() and (spacing := evenly_spaced(q_pos, k_pos)):
        step, ahead = spacing
        queries, count = q_pos.shape[-1], q_pos.shape[-1] + k_pos.shape[-1] - 1
        key = torch.arange(count, device=k_pos.device) * step
        table = _bias(encoding, (ahead + step * (queries - 1)).reshape(1), key)
        return _by_index(table, queries)
    if q_pos.is_floating_point() or k_pos.is_floating_point():
        raise ValueError(
            f"{name} as a score_mod needs whole or evenly spaced positions: it looks distances up."
            "\n  locant.attend takes real positions as they are."
        )
    return _by_distance(encoding, q_pos.long(), k_pos.long())


def _refusal(encoding: Encoding) -> str:
    """Say why no function of a score, a head and two indices can add what the encoding adds."""
    if overrides(encoding, "mix"):
        return "it changes the values that are mixed, which a score_mod does not see"
    if overrides(encoding, "rescore"):
        return "it reads queries and keys, and a score_mod sees only their product"
    if senses(encoding):
        return "it reads states of the tokens, not positions alone"
    if overrides(encoding, "bias") and not encoding.shift_invariant:
        return "its bias depends on more than the distance, so no table of distances holds it"
    return ""


def _by_index(table: Tensor, queries: int) -> ScoreMod:
    """Look up evenly spaced positions: their distance follows from the indices alone."""

    def biased(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + table[h, j - i + queries - 1]

    return biased


def _by_distance(encoding: Encoding, q_pos: Tensor, k_pos: Tensor) -> ScoreMod:
    """Look up whole positions of any order, (T) or (B,T), with a last dimension for axes."""
    axes = encoding.axes
    q_pos, k_pos = (pos.unsqueeze(-1) if axes == 1 else pos for pos in (q_pos, k_pos))
    if not (q_pos.numel() and k_pos.numel()):
        raise ValueError("a score_mod needs at least one query and one key.")
    q_ends, k_ends = (pos.flatten(0, -2).aminmax(dim=0) for pos in (q_pos, k_pos))
    low, high = q_ends.min - k_ends.max, q_ends.max - k_ends.min  # (axes), of q_pos − k_pos
    sizes = [int(size) for size in high - low + 1]
    if math.prod(sizes) > max(MAX_DISTANCES, q_pos.shape[-2] * k_pos.shape[-2]):
        raise ValueError(
            f"the positions are {math.prod(sizes):,} distances apart, more than a table should "
            "hold. Count them in larger steps, or use locant.attend."
        )
    steps = [torch.arange(size, device=low.device) for size in sizes]
    key = high - low - torch.cartesian_prod(*steps).view(-1, axes)  # from distance `low` on
    query = high.reshape(1, axes)
    if axes == 1:
        query, key = query[:, 0], key[:, 0]
    table = _bias(encoding, query, key)
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(axes)]
    stride = torch.tensor(strides, device=low.device)
    q_row = (q_pos * stride).sum(-1)  # (T) or (B,T): the row is a difference of two numbers
    k_row = (k_pos * stride).sum(-1) + (low * stride).sum()

    def biased(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        of_query = q_row[i] if q_row.dim() == 1 else q_row[b % q_row.shape[0], i]
        of_key = k_row[j] if k_row.dim() == 1 else k_row[b % k_row.shape[0], j]
        return score + table[h, of_query - of_key]

    return biased


def _bias(encoding: Encoding, query: Tensor, keys: Tensor) -> Tensor:
    """Return the bias from one query to the keys in every head, in float32 or wider: (H, K)."""
    found = encoding.bias(query, keys)
    assert found is not None  # it overrides the hook
    precise = torch.promote_types(found.dtype, torch.float32)
    return found[0, :, 0].to(precise).expand(encoding.shape.heads, -1)
