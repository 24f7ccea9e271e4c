"""Distance resolution: how much a score changes when the key steps one position farther away, at
each distance."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding
from locant.figures.data.base import Numbers, attention_scores

ORDER = 110
DRAWS = 256  # random queries and keys
MAX_ELEMENTS = 2**21  # of the keys that are held at once
MAX_DISTANCE = 256


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return the typical change of a score when the key steps from distance d to d + 1: (H,
    distances).

    The root mean square over random queries and keys, whose own scores have standard deviation 1.
    """
    last = min(encoding.shape.length - 1, MAX_DISTANCE)
    keys = torch.arange(last, -1, -1)  # at distance 0, 1, …
    query = torch.tensor([last])
    heads, head_dim = encoding.shape.heads, encoding.shape.head
    draw = torch.Generator().manual_seed(0)
    total = torch.zeros(heads, last, dtype=torch.float64)
    at_once = max(1, MAX_ELEMENTS // (len(keys) * encoding.shape.dim))
    for part in torch.arange(DRAWS).split(at_once):
        content = torch.randn(2, len(part), 1, head_dim, generator=draw, dtype=torch.float64)
        q, k = content.tile(heads)  # every head gets the same vectors
        k = k.expand(-1, len(keys), -1)
        scores = attention_scores(encoding, q, k, query, keys)[:, :, 0]  # (draws, H, distances)
        total += scores.diff(dim=-1).square().sum(0)
    return {"distances": np.arange(last), "changes": (total / DRAWS).sqrt().numpy()}
