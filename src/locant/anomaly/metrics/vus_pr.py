r"""VUS-PR: the volume under the precision-recall surface; it forgives small shifts in time.

    label_ℓ(i)  = min(1, Σ over ranges of √(1 − distance/ℓ)  where 1 ≤ distance ≤ ℓ/2),
                  1 inside a range
    TP          = Σ label_ℓ over flagged points
    P_ℓ         = Σ label + ½·Σ label_ℓ over flagged points of the buffers
    precision   = TP / number of flagged points
    recall      = min(1, TP / P_ℓ) · share of regions with a flagged point
    VUS-PR      = mean over ℓ = 0..window of Σ_k (recall_k − recall_{k−1}) · precision_k

Paparrizos et al. 2022, "Volume Under the Surface", PVLDB 15(11), as the benchmark TSB-AD computes
it (Liu and Paparrizos, NeurIPS 2024; version 1.5): its values are reproduced to rounding. What its
program decides:

- ℓ is the whole buffer: ⌊ℓ/2⌋ points on each side of a range, fewer at the ends of the series.
- P_ℓ counts a point of a buffer only when it is flagged, so it depends on the threshold.
- Ranges whose buffers share a point are one region, found when one of its points is flagged.
- Thresholds are the scores at 250 evenly spaced ranks: every score up to 250 points.

What it rewards: scores that are the labels earn 1, with any window. A flagged point of a buffer
costs less precision than one farther away and adds to recall, so a peak near the event earns part
of the credit, and scores blurred by less than the buffers lose next to nothing. Constant scores
earn the share of anomalous points, and more with a window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from locant._internal.checks import whole_number
from locant.anomaly.metrics._vectors import Flags, Numbers, labels_and_scores
from locant.anomaly.metrics.base import Metric
from locant.anomaly.metrics.events import events

RANKS = 250  # thresholds, as in TSB-AD
Ints = NDArray[np.int64]


def vus_pr(labels: ArrayLike, scores: ArrayLike, *, window: int) -> float:
    """Average the area under the range-based precision-recall curve over buffers 0..window.

    window  the longest buffer, in points: half of it lies on each side of every anomalous range.
            `vus_window` gives the length that TSB-AD takes for a series

    A peak one point late earns chance level without buffers, and part of the credit with them:

    >>> event = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    >>> late = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    >>> [round(vus_pr(event, late, window=window), 3) for window in (0, 2, 4)]
    [0.1, 0.228, 0.391]
    >>> [round(vus_pr(event, event, window=window), 3) for window in (0, 2, 4)]
    [1.0, 1.0, 1.0]
    """
    true, values = labels_and_scores("vus_pr", labels, scores)
    window = whole_number("vus_pr", "window", window, least=0)
    curve = _Curve.of(true, values, window)
    return float(np.mean([curve.area(length) for length in range(window + 1)]))


class _Curve(NamedTuple):
    """Which threshold is the first to flag each point, and what lies near the ranges."""

    flagged: Ints  # (thresholds,) how many points each threshold flags
    first: Ints  # (T,) the first threshold that flags a point
    hits: Numbers  # (thresholds,) flagged points inside ranges
    ranges: Ints  # (ranges, 2) half open
    points: Ints  # (N,) points outside ranges that a buffer may reach, once a range and side
    distances: Ints  # (N,) of those to their range, rising

    @classmethod
    def of(cls, true: Flags, values: Numbers, window: int) -> _Curve:
        ranks = np.linspace(0, len(values) - 1, RANKS).astype(int)
        rising = np.unique(np.sort(values)[::-1][ranks])
        first = len(rising) - np.searchsorted(
            rising, values, side="right"
        )  # the lowest score is always a threshold
        ranges = np.array(events(true))
        hits = _running(first[true], None, len(rising))
        points, distances = _near(true, ranges, window // 2)
        return cls(
            _running(first, None, len(rising)).astype(int), first, hits, ranges, points, distances
        )

    def area(self, length: int) -> float:
        """Compute the area under the range-based precision-recall curve with one buffer length."""
        near = _running(*self._buffer(length), len(self.flagged))
        hits, inside = self.hits + near, self.hits[-1]
        recall = np.minimum(hits / (inside + near / 2), 1.0) * self._found(length // 2)
        return float(np.diff(recall, prepend=0.0) @ (hits / self.flagged))

    def _buffer(self, length: int) -> tuple[Ints, Numbers]:
        """Return the first thresholds and the labels of the points in buffers of this length."""
        count = np.searchsorted(self.distances, length // 2, side="right")
        weights = np.sqrt(1 - self.distances[:count] / max(length, 1))
        soft = np.minimum(np.bincount(self.points[:count], weights, len(self.first)), 1.0)  # (T,)
        where = np.flatnonzero(soft)
        return self.first[where], soft[where]

    def _found(self, half: int) -> Numbers:
        """Compute the share of regions with a flagged point, at each threshold."""
        apart = self.ranges[1:, 0] - half > self.ranges[:-1, 1] - 1 + half
        starts = self.ranges[np.append(True, apart), 0] - half
        stops = self.ranges[np.append(apart, True), 1] + half
        edges = np.stack([np.maximum(starts, 0), np.minimum(stops, len(self.first))], 1)
        within = np.append(
            self.first, len(self.flagged)
        )  # a last element: reduceat needs every edge inside
        earliest = np.minimum.reduceat(within, edges.ravel())[::2]
        return _running(earliest, None, len(self.flagged)) / len(edges)


def _near(true: Flags, ranges: Ints, half: int) -> tuple[Ints, Ints]:
    """Find the points at a distance of 1..half from a range, and the distances, nearest first.

    >>> points, distances = _near(np.array([0, 0, 1, 0], bool), np.array([[2, 3]]), 2)
    >>> points.tolist(), distances.tolist()
    ([1, 3, 0], [1, 1, 2])
    """
    distances = np.arange(1, half + 1)[:, None, None]
    sides = np.stack(
        [ranges[:, 0] - distances[..., 0], ranges[:, 1] - 1 + distances[..., 0]], 1
    )  # (half, 2, ranges)
    far = np.broadcast_to(distances, sides.shape)
    there = (sides >= 0) & (sides < len(true))
    there[there] = ~true[sides[there]]
    return sides[there], far[there]


def _running(first: Ints, weights: Numbers | None, count: int) -> Numbers:
    """Sum the weights (1 each without any) of what each of `count` thresholds flags."""
    return np.cumsum(np.bincount(first, weights, count)).astype(np.float64)


METRIC = Metric(
    "VUS-PR", lambda case: vus_pr(case.labels, case.scores, window=case.window), order=1
)
