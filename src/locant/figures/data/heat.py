"""Heat map: every number of every position's vector, positions downwards, dimensions across."""

from __future__ import annotations

from locant.encodings.base import Encoding
from locant.figures.data.base import Numbers, all_vectors, vector_meaning

ORDER = 10


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the vectors of all positions, and what they are."""
    return {"values": all_vectors(encoding), "what": vector_meaning(encoding)}
