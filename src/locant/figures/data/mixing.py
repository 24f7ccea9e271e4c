"""Tokens and positions mixed: what they are apart, and what attention gets to see."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.encodings.base import Encoding, overrides
from locant.encodings.none import Nothing
from locant.figures.data.hooks import Numbers, places, scores

WORDS = ("the", "cat", "chased", "the", "mouse")


def mixing(encoding: Encoding) -> Numbers:
    """Token, position, and both: as vectors where positions are added to the input, else as scores of the first head."""
    words = WORDS[: len(WORDS) if encoding.extrapolates else encoding.shape.length]
    draw, at = torch.Generator().manual_seed(1), torch.arange(len(words))
    meaning = {
        word: torch.randn(encoding.shape.dim, generator=draw, dtype=torch.float64) for word in WORDS
    }
    x = torch.stack([meaning[word] for word in words])[
        None
    ]  # (1, T, D); the same word is the same vector
    if overrides(encoding, "embed") and not encoding.added_width:
        both = encoding.embed(x, places(encoding, at))
        return _three(words, x[0], (both - x)[0], both[0], "vectors", "dimension")
    content = scores(Nothing(encoding.shape), x, x, at, at)[0, 0]
    both = scores(encoding, x, x, at, at)[0, 0]
    return _three(words, content, both - content, both, "scores of head 1", "key")


def _three(
    words: tuple[str, ...], token: Tensor, position: Tensor, both: Tensor, what: str, across: str
) -> Numbers:
    parts = {"token": token, "position": position, "token + position": both}
    drawn = {name: part.numpy() for name, part in parts.items()}
    return {"words": list(words), "parts": drawn, "what": what, "across": across}
