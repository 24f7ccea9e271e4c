"""Bias per head: what is added to the score of every query and key, all tokens being equal."""

from __future__ import annotations

import torch

from locant.encodings.base import Encoding
from locant.figures.data.base import NotApplicable, Numbers, added_to_scores

ORDER = 90
MAX_POSITIONS = 512  # queries and keys whose whole matrix is shown


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the bias of every head, query and key: (H, Q, K)."""
    positions = torch.arange(min(encoding.shape.length, MAX_POSITIONS))
    found = added_to_scores(encoding, positions, positions)
    if found is None:
        raise NotApplicable("it adds nothing to the scores from positions alone")
    return {"bias": found.numpy()}
