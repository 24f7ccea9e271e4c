"""Columns in units of their clean part, so that they can be compared and a model can read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EDGE = 0.005  # the share at either end that may be anything
FAR = 10.0  # methods are shown nothing farther out; deviations are taken from the true values
MOST = (
    1e6  # beyond which all is the same: squares of more would drown what lies beside it in rounding
)


class Units(NamedTuple):
    """The middle and the size of each column, (F,) each."""

    middle: Floats
    size: Floats

    @classmethod
    def of(cls, clean: Floats) -> Units:
        """From values (T,F), without their outermost ones.

        >>> Units.of(np.array([[0.0], [2.0], [4.0]])).middle.round(9).tolist()
        [2.0]
        """
        most = np.maximum(
            np.abs(clean).max(0), np.finfo(float).tiny
        )  # squares of huge values do not fit into float64
        low, high = np.quantile(clean / most, [EDGE, 1 - EDGE], axis=0) * most
        inner = np.clip(clean, low, high)
        usual = np.maximum(
            np.abs(inner).max(0), np.finfo(float).tiny
        )  # one huge value makes the others no smaller
        size, whole = (inner / usual).std(0) * usual, (clean / most).std(0) * most
        size = np.where(
            size > 1e-12 * usual, size, whole
        )  # a column that is constant but for a few points
        return cls((inner / usual).mean(0) * usual, np.where(size > 0, size, 1.0))

    def scaled(self, values: Floats) -> Floats:
        """Values (T,F) in these units, none farther out than MOST."""
        with np.errstate(over="ignore"):
            return np.clip((values - self.middle) / self.size, -MOST, MOST)

    def seen(self, values: Floats) -> Floats:
        """The same, as methods are shown them: nothing far out."""
        return np.clip(self.scaled(values), -FAR, FAR)

    def back(self, scaled: Floats) -> Floats:
        """From these units to the column's own."""
        with np.errstate(over="ignore"):
            return np.clip(
                scaled * self.size + self.middle, -np.finfo(float).max, np.finfo(float).max
            )
