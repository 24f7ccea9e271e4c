"""Turn a series into what a model reads: columns of one scale, cut into windows of patches.

Columns are scaled by their clean part, so that outliers do not decide the scale. Patches are the
tokens of a masked model: some are hidden, and predictions of several windows are merged again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TRIMMED_SHARE = 0.005  # the share of values at either end that is clipped before the scale is taken
MAX_VISIBLE = 10.0  # methods see nothing farther out; deviations are taken from the true values
MAX_SCALED = 1e6  # beyond it, squares would drown the other columns in rounding
OVERLAP = 4  # windows that hold a point
GROUPS = 4  # complementary masks: each token is hidden by exactly one of them
SPAN = 3  # neighboring tokens that are hidden together


class Units(NamedTuple):
    """The center and the scale of every column, (F,) each, without the influence of outliers."""

    middle: Floats
    size: Floats

    @classmethod
    def of(cls, clean: Floats) -> Units:
        """Take center and scale of values (T,F) after clipping the outermost values.

        >>> Units.of(np.array([[0.0], [2.0], [4.0]])).middle.round(9).tolist()
        [2.0]
        """
        tiny = np.finfo(float).tiny
        # Everything is divided by the largest value first: squares of huge values overflow float64.
        largest = np.maximum(np.abs(clean).max(0), tiny)
        shares = [TRIMMED_SHARE, 1 - TRIMMED_SHARE]
        low, high = np.quantile(clean / largest, shares, axis=0) * largest
        inner = np.clip(clean, low, high)
        largest_inner = np.maximum(np.abs(inner).max(0), tiny)
        inner_std = (inner / largest_inner).std(0) * largest_inner
        full_std = (clean / largest).std(0) * largest
        # A column that is constant except for a few points takes the scale of all its points.
        size = np.where(inner_std > 1e-12 * largest_inner, inner_std, full_std)
        middle = (inner / largest_inner).mean(0) * largest_inner
        return cls(middle, np.where(size > 0, size, 1.0))

    def scaled(self, values: Floats) -> Floats:
        """Scale values (T,F), and clip them to ±MAX_SCALED."""
        with np.errstate(over="ignore"):
            return np.clip((values - self.middle) / self.size, -MAX_SCALED, MAX_SCALED)

    def seen(self, values: Floats) -> Floats:
        """Scale values (T,F) as methods see them, clipped to ±MAX_VISIBLE."""
        return np.clip(self.scaled(values), -MAX_VISIBLE, MAX_VISIBLE)

    def back(self, scaled: Floats) -> Floats:
        """Undo the scaling of values (T,F)."""
        largest = np.finfo(float).max
        with np.errstate(over="ignore"):
            return np.clip(scaled * self.size + self.middle, -largest, largest)


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
