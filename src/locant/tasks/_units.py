"""Columns in units of their clean part, so that they can be compared and a model can read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EDGE = 0.005  # the share at either end that may be anything
FAR = 10.0  # methods are shown nothing farther out; deviations are taken from the true values


class Units(NamedTuple):
    """The middle and the size of each column, (F,) each."""

    middle: Floats
    size: Floats

    @classmethod
    def of(cls, clean: Floats) -> Units:
        """From values (T,F), without their outermost ones.

        >>> Units.of(np.array([[0.0], [2.0], [4.0]])).middle.tolist()
        [2.0]
        """
        most = np.maximum(np.abs(clean).max(0), np.finfo(float).tiny)  # squares of huge values do not fit into float64
        low, high = np.quantile(clean / most, [EDGE, 1 - EDGE], axis=0)
        inner = np.clip(clean / most, low, high)
        size, whole = inner.std(0), (clean / most).std(0)
        size = np.where(size > 1e-9 * whole, size, whole)  # a column that is constant but for a few points
        return cls(inner.mean(0) * most, np.where(size > 0, size * most, 1.0))

    def scaled(self, values: Floats) -> Floats:
        """Values (T,F) in these units."""
        return (values - self.middle) / self.size

    def seen(self, values: Floats) -> Floats:
        """The same, as methods are shown them: nothing far out."""
        return np.clip(self.scaled(values), -FAR, FAR)

    def back(self, scaled: Floats) -> Floats:
        """From these units to the column's own."""
        return scaled * self.size + self.middle
