"""Rotation of a query and a key: single pairs of dimensions in their planes, at position 0 and
where they are."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from locant.encodings.base import Encoding
from locant.figures.data._sinusoids import rotated_pairs, rotation_frequencies
from locant.figures.data.base import NotApplicable, Numbers, as_positions, rotated

ORDER = 100
PLANES = 3  # in one picture


def measure(encoding: Encoding, position: float = 3, key: float = 1) -> Numbers:
    """Return pairs of a query and of a key, at position 0 and at their own positions: each (2,
    pairs, 2)."""
    omega = rotation_frequencies(encoding)
    pairs = rotated_pairs(encoding, omega)
    if not pairs:
        raise NotApplicable("what it does to queries and keys is not a rotation of pairs")
    indices = np.unique(np.linspace(0, len(pairs) // 2, PLANES).round().astype(int))
    chosen = [pairs[index] for index in indices]
    draw = torch.Generator().manual_seed(2)
    q, k = torch.randn(2, encoding.shape.head, generator=draw, dtype=torch.float64)
    queries = _start_and_end(encoding, q, position)[0].numpy()
    keys = _start_and_end(encoding, k, key)[1].numpy()
    return {
        "pairs": chosen,
        "turns": omega[[first for first, _ in chosen]],
        "position": position,
        "key": key,
        "queries": queries[:, np.array(chosen)],  # (at 0 and at its position, pairs, 2)
        "keys": keys[:, np.array(chosen)],
    }


def _start_and_end(encoding: Encoding, x: Tensor, position: float) -> tuple[Tensor, Tensor]:
    """Return a vector at position 0 and at another, as a query and as a key: each (2, ·)."""
    return rotated(encoding, x.expand(2, -1), as_positions(0, position))
