"""Dot product against distance: from several starts, so that it shows whether the distance is all
that counts."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding
from locant.figures.data.base import Numbers, position_vectors, vector_meaning

ORDER = 50


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the dot products of two positions' vectors by distance, from several starts: (starts,
    distances)."""
    length = encoding.shape.length
    starts = sorted({0, length // 4, length // 2})
    count = length if encoding.extrapolates else length - starts[-1]
    values = position_vectors(encoding, torch.arange(starts[-1] + count)).numpy()
    products = [values[start : start + count] @ values[start] for start in starts]
    return {
        "distances": np.arange(count),
        "starts": starts,
        "products": np.stack(products),
        "what": vector_meaning(encoding),
    }
