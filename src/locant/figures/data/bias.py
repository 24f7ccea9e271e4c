"""Bias per head: what is added to the score of every query and key, from positions alone."""

from __future__ import annotations

import torch

from locant.attention.backends.tiled.block_bias import check_bias
from locant.encodings.base import Encoding
from locant.figures.data.base import NotApplicable, Numbers, on_axes

ORDER = 90
MAX_POSITIONS = 512  # queries and keys whose whole matrix is shown


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the bias of every head, query and key: (H, Q, K)."""
    heads = encoding.shape.heads
    length = min(encoding.shape.length, MAX_POSITIONS)
    pos = on_axes(encoding, torch.arange(length))
    found = check_bias(encoding, encoding.bias(pos, pos), (1, heads, length, length))
    if found is None:
        raise NotApplicable("it adds nothing to the scores from positions alone")
    return {"bias": found[0].double().expand(heads, -1, -1).numpy()}
