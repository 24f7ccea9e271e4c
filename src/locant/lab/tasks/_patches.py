"""A series cut into windows of patches, the tokens of a model, and what was said of them laid back over the series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
OVERLAP = 4  # windows that hold a point


@dataclass(frozen=True)
class Patches:
    """Windows of `tokens` patches of `width` points each."""

    tokens: int
    width: int

    @property
    def window(self) -> int:
        """Points in a window."""
        return self.tokens * self.width

    def starts(self, length: int) -> np.ndarray:
        """Where windows begin, (N,), so that every point is in several; the last one ends with the series.

        >>> Patches(tokens=4, width=2).starts(13).tolist()
        [0, 2, 4, 5]
        """
        last = length - self.window
        return np.unique(np.append(np.arange(0, last, max(1, self.window // OVERLAP)), last))

    def cut(self, values: Floats, starts: np.ndarray) -> np.ndarray:
        """The windows that begin there, (N, tokens, width·F)."""
        points = starts[:, None] + np.arange(self.window)
        return values[points].reshape(len(starts), self.tokens, -1)

    def places(self, at: Floats, starts: np.ndarray) -> Floats:
        """Where the tokens of each window are, in patches from its first one, (N, tokens), of points at `at` (T,).

        >>> Patches(tokens=3, width=2).places(np.array([0.0, 1, 2, 3, 14, 15]), np.array([0])).tolist()
        [[0.0, 1.0, 7.0]]
        """
        at = at[starts[:, None] + np.arange(0, self.window, self.width)]
        return (at - at[:, :1]) / self.width

    def covered(self, hidden: Flags, starts: np.ndarray) -> Flags:
        """Which tokens hold a hidden point, (N, tokens)."""
        return self.cut(hidden[:, None].astype(np.float64), starts).max(-1) > 0

    def laid(self, said: np.ndarray, starts: np.ndarray, length: int) -> Floats:
        """The median over windows of what they say, (N, tokens, width·F), at each point: (T,F)."""
        columns = said.shape[-1] // self.width
        turn = np.arange(len(starts)) % (
            OVERLAP + 2
        )  # windows that share a point have different turns
        table = np.full((OVERLAP + 2, length, columns), np.nan)
        points = starts[:, None] + np.arange(self.window)
        table[turn[:, None], points] = said.reshape(len(starts), self.window, columns)
        return np.nanmedian(table, axis=0)
