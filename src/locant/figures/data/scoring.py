"""Pictures of scores: what one token's place says to another's."""

from __future__ import annotations

import numpy as np
import torch

from locant.attention.backends.tiled.bias import check_bias
from locant.encodings.base import Encoding, overrides
from locant.figures.data.hooks import NotOffered, Numbers, places, same_tokens, scores
from locant.figures.data.vectors import meaning, rows

SMALL = 11  # rows and columns whose numbers are printed
DRAWS = 256  # random queries and keys
QUERIES_AND_KEYS = {"down": "query's position", "across": "key's position"}
ROOM = 2**21  # numbers that are held at once
MATRIX = 512  # queries and keys of which a whole matrix is shown
FARTHEST = 256  # of the distances whose resolution is measured


def numbers(encoding: Encoding) -> Numbers:
    """The first 11 × 11 numbers, to be read one by one: of the vectors, or of what the first head's scores get."""
    if overrides(encoding, "embed") or overrides(encoding, "rotate"):
        return {
            "values": rows(encoding)[:SMALL, :SMALL],
            "what": meaning(encoding),
            "down": "position",
            "across": "dimension",
        }
    if not overrides(encoding, "bias") and not overrides(encoding, "rescore"):
        raise NotOffered("positions change none of its numbers")
    few = torch.arange(min(SMALL, encoding.shape.length))
    tokens, head = same_tokens(encoding, len(few)), encoding.shape.head
    content = tokens[0, :, :head] @ tokens[0, :, :head].T / head**0.5
    values = scores(encoding, tokens, tokens, few, few)[0, 0] - content
    return {"values": values.numpy(), "what": "added to the scores of head 1", **QUERIES_AND_KEYS}


def score(encoding: Encoding) -> Numbers:
    """The score of one query over equal keys before and after it, in each head: (H, distances)."""
    length = encoding.shape.length
    reach = length - 1 if encoding.extrapolates else (length - 1) // 2
    around = torch.arange(2 * reach + 1)
    token, tokens = same_tokens(encoding, 1), same_tokens(encoding, len(around))
    values = scores(encoding, token, tokens, around[reach][None], around)[0, :, 0]
    return {"distances": (around - reach).numpy(), "scores": values.numpy()}


def bias(encoding: Encoding) -> Numbers:
    """What is added to the scores from positions alone, for every query and key: (H, Q, K)."""
    length = min(encoding.shape.length, MATRIX)
    at = places(encoding, torch.arange(length))
    found = check_bias(encoding, encoding.bias(at, at), (1, encoding.shape.heads, length, length))
    if found is None:
        raise NotOffered("it adds nothing to the scores from positions alone")
    return {"bias": found[0].double().expand(encoding.shape.heads, -1, -1).numpy()}


def resolution(encoding: Encoding) -> Numbers:
    """How much a score changes, typically, when the key steps from distance d to d + 1: (H, distances).

    The root mean square over random queries and keys, whose own scores have the spread 1.
    """
    last = min(encoding.shape.length - 1, FARTHEST)
    keys, query = torch.arange(last, -1, -1), torch.tensor([last])  # distance 0, 1, …
    heads, head, draw = encoding.shape.heads, encoding.shape.head, torch.Generator().manual_seed(0)
    total, together = (
        torch.zeros(heads, last, dtype=torch.float64),
        max(1, ROOM // (len(keys) * encoding.shape.dim)),
    )
    for part in torch.arange(DRAWS).split(together):
        q, k = torch.randn(2, len(part), 1, head, generator=draw, dtype=torch.float64).tile(
            heads
        )  # heads see the same
        curve = scores(encoding, q, k.expand(-1, len(keys), -1), query, keys)[
            :, :, 0
        ]  # (draws, H, distances)
        total += curve.diff(dim=-1).square().sum(0)
    return {"distances": np.arange(last), "changes": (total / DRAWS).sqrt().numpy()}
