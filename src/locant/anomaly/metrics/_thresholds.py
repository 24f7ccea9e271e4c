"""Every threshold that can matter: one for each distinct score, from the highest down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.metrics._vectors import Numbers


class Thresholds(NamedTuple):
    """A point is flagged when its score is not below the threshold."""

    values: Numbers  # distinct, falling
    flagged: NDArray[np.int64]  # how many points each threshold flags
    order: NDArray[np.int64]  # the points, highest score first

    def total(self, weights: Numbers) -> Numbers:
        """The sum of the weights of the points that each threshold flags."""
        return np.cumsum(weights[self.order])[self.flagged - 1]


def thresholds(scores: Numbers) -> Thresholds:
    """Equal scores are flagged together, so they share a threshold.

    >>> every = thresholds(np.array([0.5, 0.9, 0.5, 0.1]))
    >>> every.values.tolist(), every.flagged.tolist()
    ([0.9, 0.5, 0.1], [1, 3, 4])
    >>> every.total(np.array([1.0, 0.0, 1.0, 1.0])).tolist()
    [0.0, 2.0, 3.0]
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    last = np.append(falling[1:] != falling[:-1], True)  # of its group of equal scores
    return Thresholds(falling[last], np.flatnonzero(last) + 1, order)
