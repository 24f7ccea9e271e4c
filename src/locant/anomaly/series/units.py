"""Scale the columns of a series by their clean part, so that columns are comparable and a model can
read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TRIMMED_SHARE = 0.005  # the share of values at either end that is clipped before the scale is taken
MAX_VISIBLE = 10.0  # methods see nothing farther out; deviations are taken from the true values
MAX_SCALED = 1e6  # beyond it, squares would drown the other columns in rounding


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
