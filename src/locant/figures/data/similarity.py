"""Similarity: the cosine between the vectors of every two positions."""

from __future__ import annotations

import numpy as np

from locant.encodings.base import Encoding
from locant.figures.data.base import Numbers, all_vectors, vector_meaning

ORDER = 40


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the cosine similarity of every two positions: (T, T)."""
    values = all_vectors(encoding)
    norm = np.linalg.norm(values, axis=1, keepdims=True)
    unit = values / np.where(norm > 0, norm, 1.0)
    return {"cosines": unit @ unit.T, "what": vector_meaning(encoding)}
