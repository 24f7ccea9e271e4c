"""Cut a series into windows of patches, the tokens of a masked model; hide patches, and merge
predictions again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
OVERLAP = 4  # windows that hold a point
GROUPS = 4  # complementary masks: each token is hidden by exactly one of them
SPAN = 3  # neighboring tokens that are hidden together


@dataclass(frozen=True)
class Patches:
    """Windows of `tokens` patches of `width` points each."""

    tokens: int
    width: int

    @property
    def window(self) -> int:
        """The number of points in a window."""
        return self.tokens * self.width

    def starts(self, length: int) -> np.ndarray:
        """Choose window starts (N,) so that every point is in several windows; the last window ends
        with the series.

        >>> Patches(tokens=4, width=2).starts(13).tolist()
        [0, 2, 4, 5]
        """
        last = length - self.window
        stride = max(1, self.window // OVERLAP)
        return np.unique(np.append(np.arange(0, last, stride), last))

    def cut(self, values: Floats, starts: np.ndarray) -> np.ndarray:
        """Cut the windows that begin at `starts` out of values (T,F): (N, tokens, width·F)."""
        points = starts[:, None] + np.arange(self.window)
        return values[points].reshape(len(starts), self.tokens, -1)

    def positions(self, at: Floats, starts: np.ndarray) -> Floats:
        """Turn the times `at` (T,) of points into token positions (N, tokens), in patches from a
        window's first.

        >>> times = np.array([0.0, 1, 2, 3, 14, 15])
        >>> Patches(tokens=3, width=2).positions(times, np.array([0])).tolist()
        [[0.0, 1.0, 7.0]]
        """
        at = at[starts[:, None] + np.arange(0, self.window, self.width)]
        return (at - at[:, :1]) / self.width

    def covered(self, hidden: Flags, starts: np.ndarray) -> Flags:
        """Say which tokens hold a hidden point, (N, tokens)."""
        return self.cut(hidden[:, None].astype(np.float64), starts).max(-1) > 0

    def merge(self, predicted: np.ndarray, starts: np.ndarray, length: int) -> Floats:
        """Take the median over windows of their predictions (N, tokens, width·F) at each point:
        (T,F)."""
        columns = predicted.shape[-1] // self.width
        layers = OVERLAP + 2
        layer = (
            np.arange(len(starts)) % layers
        )  # windows that share a point are in different layers
        table = np.full((layers, length, columns), np.nan)
        points = starts[:, None] + np.arange(self.window)
        table[layer[:, None], points] = predicted.reshape(len(starts), self.window, columns)
        return np.nanmedian(table, axis=0)


def hide_spans(count: int, tokens: int, draw: np.random.Generator) -> Flags:
    """Hide about a quarter of the tokens of each window, in random spans: (count, tokens).

    >>> hide_spans(1, 13, np.random.default_rng(0)).astype(int).tolist()
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0]]
    """
    number = max(1, tokens // GROUPS // SPAN)
    starts = draw.integers(max(1, tokens - SPAN + 1), size=(count, number, 1))
    hidden = np.zeros((count, tokens), np.bool_)
    spans = (starts + np.arange(min(SPAN, tokens))).reshape(count, -1)
    np.put_along_axis(hidden, spans, True, 1)
    return hidden


def mask_groups(count: int, tokens: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Say which of the complementary masks hides each token, (count, tokens), starting from a
    random one.

    >>> mask_groups(1, 8, np.random.default_rng(0)).tolist()
    [[3, 3, 3, 0, 0, 0, 1, 1]]
    """
    group = np.tile(np.arange(tokens) // SPAN % GROUPS, (count, 1))
    return (group + draw.integers(GROUPS, size=(count, 1))) % GROUPS
