"""Tokens and positions mixed: the token's part, the position's part, and both."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.attention import explicit
from locant.encodings.base import Encoding, overrides
from locant.encodings.none import Nothing
from locant.figures.data.base import Numbers, attention_scores, on_axes

ORDER = 120
ON_SCORES = ("rotate", "bias", "state_bias", "rescore")  # hooks that the scores pass through
WORDS = ("the", "cat", "chased", "the", "mouse")


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return token, position and both: as vectors where positions are added to the input, as
    outputs of head 1 where they act behind the softmax alone, else as scores of head 1."""
    count = len(WORDS) if encoding.extrapolates else encoding.shape.length
    words = WORDS[:count]
    x = _word_vectors(words, encoding.shape.dim)
    positions = torch.arange(len(words))
    if overrides(encoding, "embed") and not encoding.added_width:
        both = encoding.embed(x, on_axes(encoding, positions))
        return _parts(words, x[0], (both - x)[0], both[0], what="vectors", across="dimension")
    if not any(overrides(encoding, hook) for hook in ON_SCORES) and overrides(encoding, "mix"):
        content = _outputs(Nothing(encoding.shape), x, positions)
        both = _outputs(encoding, x, positions)
        what = "outputs of head 1"
        return _parts(words, content, both - content, both, what=what, across="dimension")
    content = attention_scores(Nothing(encoding.shape), x, x, positions, positions)[0, 0]
    both = attention_scores(encoding, x, x, positions, positions)[0, 0]
    return _parts(words, content, both - content, both, what="scores of head 1", across="key")


def _outputs(encoding: Encoding, x: Tensor, positions: Tensor) -> Tensor:
    """Attend over tokens (1, T, D) with the identity as projections; head 1 gives (T, d)."""
    heads = x.unflatten(-1, (encoding.shape.heads, encoding.shape.head)).transpose(1, 2)
    pos = on_axes(encoding, positions)
    return explicit(heads, heads, heads, encoding=encoding, q_pos=pos, k_pos=pos).out[0, 0]


def _word_vectors(words: tuple[str, ...], dim: int) -> Tensor:
    """Draw a vector for each word, the same for the same word: (1, T, D)."""
    draw = torch.Generator().manual_seed(1)
    vectors = {}
    for word in WORDS:
        vectors[word] = torch.randn(dim, generator=draw, dtype=torch.float64)
    return torch.stack([vectors[word] for word in words])[None]


def _parts(
    words: tuple[str, ...],
    token: Tensor,
    position: Tensor,
    both: Tensor,
    *,
    what: str,
    across: str,
) -> Numbers:
    parts = {
        "token": token.numpy(),
        "position": position.numpy(),
        "token + position": both.numpy(),
    }
    return {"words": list(words), "parts": parts, "what": what, "across": across}
