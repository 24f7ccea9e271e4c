"""Which tokens of a window are hidden, in spans: some to learn from, and all of them in turn to be judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GROUPS = 4  # complementary masks: each token is hidden by exactly one
SPAN = 3  # tokens that are hidden together


def spans(count: int, tokens: int, draw: np.random.Generator) -> NDArray[np.bool_]:
    """About a quarter of the tokens, in spans: (count, tokens).

    >>> spans(1, 13, np.random.default_rng(0)).astype(int).tolist()
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0]]
    """
    number = max(1, tokens // GROUPS // SPAN)
    starts = draw.integers(max(1, tokens - SPAN + 1), size=(count, number, 1))
    hidden = np.zeros((count, tokens), np.bool_)
    np.put_along_axis(hidden, (starts + np.arange(min(SPAN, tokens))).reshape(count, -1), True, 1)
    return hidden


def turns(count: int, tokens: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Which of the complementary masks hides each token, (count, tokens), beginning anywhere.

    >>> turns(1, 8, np.random.default_rng(0)).tolist()
    [[3, 3, 3, 0, 0, 0, 1, 1]]
    """
    whose = np.tile(np.arange(tokens) // SPAN % GROUPS, (count, 1))
    return (whose + draw.integers(GROUPS, size=(count, 1))) % GROUPS
