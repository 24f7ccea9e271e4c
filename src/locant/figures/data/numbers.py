"""Numbers: the first 11 × 11, printed in their cells."""

from __future__ import annotations

import torch

from locant.encodings.base import Encoding, overrides
from locant.figures.data.base import (
    NotApplicable,
    Numbers,
    all_vectors,
    attention_scores,
    equal_tokens,
    vector_meaning,
)

ORDER = 70
PRINTED = 11  # rows and columns


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return a corner of the vectors, or of what is added to the scores of the first head."""
    if overrides(encoding, "embed") or overrides(encoding, "rotate"):
        return {
            "values": all_vectors(encoding)[:PRINTED, :PRINTED],
            "what": vector_meaning(encoding),
            "down": "position",
            "across": "dimension",
        }
    if not any(overrides(encoding, hook) for hook in ("bias", "state_bias", "rescore")):
        raise NotApplicable("positions change none of its numbers")
    positions = torch.arange(min(PRINTED, encoding.shape.length))
    tokens = equal_tokens(encoding, len(positions))
    head_dim = encoding.shape.head
    content = tokens[0, :, :head_dim] @ tokens[0, :, :head_dim].T / head_dim**0.5
    scores = attention_scores(encoding, tokens, tokens, positions, positions)[0, 0]
    return {
        "values": (scores - content).numpy(),
        "what": "added to the scores of head 1",
        "down": "query's position",
        "across": "key's position",
    }
