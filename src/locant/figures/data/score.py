"""Score against distance: what one query gives to equal keys before and after it, in each head."""

from __future__ import annotations

import torch

from locant.encodings.base import Encoding
from locant.figures.data.base import Numbers, attention_scores, equal_tokens

ORDER = 80


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the scores of one query over equal keys around it: (H, distances)."""
    length = encoding.shape.length
    farthest = length - 1 if encoding.extrapolates else (length - 1) // 2
    positions = torch.arange(2 * farthest + 1)
    token = equal_tokens(encoding, 1)
    tokens = equal_tokens(encoding, len(positions))
    query = positions[farthest][None]
    scores = attention_scores(encoding, token, tokens, query, positions)[0, :, 0]
    return {"distances": (positions - farthest).numpy(), "scores": scores.numpy()}
