"""The rotation of a query and a key: what happens in the planes of single pairs of dimensions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from locant.encodings.base import Encoding, overrides
from locant.figures.data.hooks import Array, NotOffered, Numbers, index, span, turned
from locant.figures.data.waves import frequencies, pairs

PLANES = 3  # in one picture


def rotation(encoding: Encoding, position: float = 3, key: float = 1) -> Numbers:
    """Pairs of a query and of a key, at position 0 and at their own positions: each (pairs, 2)."""
    turns = turning(encoding)
    known = turned_pairs(encoding, turns)
    if not known:
        raise NotOffered("what it does to queries and keys is no turning of pairs")
    chosen = [
        known[at] for at in np.unique(np.linspace(0, len(known) // 2, PLANES).round().astype(int))
    ]
    q, k = torch.randn(
        2, encoding.shape.head, generator=torch.Generator().manual_seed(2), dtype=torch.float64
    )
    q_ends, k_ends = (
        x.numpy()[:, np.array(chosen)]
        for x in (_moved(encoding, q, position)[0], _moved(encoding, k, key)[1])
    )
    return {
        "pairs": chosen,
        "turns": turns[[first for first, _ in chosen]],
        "position": position,
        "key": key,
        "queries": q_ends,  # (at 0 and at its position, pairs, 2)
        "keys": k_ends,
    }


def turning(encoding: Encoding) -> Array:
    """By how much each dimension of a turned key turns with each position, nan where it does not."""
    if not overrides(encoding, "rotate"):
        raise NotOffered("it turns no queries and keys")
    at = span(encoding)
    ones = torch.ones(len(at), encoding.shape.head, dtype=torch.float64)
    return frequencies(turned(encoding, ones, at)[1].numpy())


def turned_pairs(encoding: Encoding, turns: Array) -> list[tuple[int, int]]:
    """The dimensions that turn together: their frequency is the same, and one coordinate of a key moves both."""
    head = encoding.shape.head
    start = torch.linspace(1, 2, head, dtype=torch.float64)
    each = torch.cat(
        [start[None], start + torch.eye(head, dtype=torch.float64)]
    )  # one coordinate is larger by 1
    out = turned(encoding, each, index(*[1] * (head + 1)))[1]
    moves = (out[1:] != out[0]).double()  # (d, ·): by each coordinate
    return pairs(np.abs(turns), (moves.T @ moves).numpy() > 0)


def _moved(encoding: Encoding, x: Tensor, position: float) -> tuple[Tensor, Tensor]:
    """A vector at position 0 and at another, as a query and as a key: each (2, ·)."""
    return turned(encoding, x.expand(2, -1), index(0, position))
