r"""Affiliation: how near flags and events are to each other, against flags thrown at random.

Time is a line, a point i the interval [i, i + 1). Each event e owns the zone of all moments that
are nearer to it than to any other event, so zones meet half way between events. Within its zone Z:

    precision_e = mean over flagged x of  P(dist(X, e) > dist(x, e)),   1 for x inside e
    recall_e    = mean over y in e of     P(|X − y| > dist(y, flags)),  0 without a flag in Z

X is uniform in Z. Precision is the mean over the events with a flag in their zone, recall the mean
over all events. Huet et al. 2022, "Local Evaluation of Time Series Anomaly Detection Algorithms",
KDD, arXiv:2206.13167. Both means are integrals, and exact: their integrands are straight lines
between kinks that are known.

Random flags earn about one half, not 0: flagging every point earns a precision of (1 + s²)/2 for an
event amid its zone that fills the share s of it, and a recall of 1.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from locant.anomaly.metrics._vectors import Numbers, labels_and_flags, needs_an_anomaly
from locant.anomaly.metrics.base import Metric
from locant.anomaly.metrics.events import events

Interval = tuple[float, float]


class Affiliation(NamedTuple):
    """Probabilities of doing better than chance, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def affiliation(labels: ArrayLike, predicted: ArrayLike) -> Affiliation:
    """Compute precision, recall and F1 by affiliation; without any flag all three are 0.0.

    An event [4, 6) on ten points, flagged one point late, [6, 7): on average x is .5 away, which
    7 of 10 moments exceed, and y is 1 away, which 8 of 10 exceed.

    >>> near = affiliation([0, 0, 0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    >>> round(near.precision, 6), round(near.recall, 6), round(near.f1, 6)
    (0.7, 0.8, 0.746667)
    """
    true, flagged = labels_and_flags("affiliation", labels, predicted)
    needs_an_anomaly("affiliation", true)
    precisions, recalls = [], []
    flags = _pieces(events(flagged))
    for event, zone in zip(events(true), _zones(events(true), len(true)), strict=True):
        near = np.clip(flags, *zone)
        near = near[near[:, 0] < near[:, 1]]  # what lies in this zone
        if len(near):
            precisions.append(_event_precision(event, zone, near))
        recalls.append(_event_recall(event, zone, near) if len(near) else 0.0)
    precision, recall = float(np.mean(precisions or [0.0])), float(np.mean(recalls))
    return Affiliation(
        precision, recall, 2 * precision * recall / (precision + recall) if recall else 0.0
    )


def _zones(truth: list[tuple[int, int]], points: int) -> list[Interval]:
    """Return the zone of moments nearest to each event.

    >>> _zones([(2, 4), (9, 10)], 12)
    [(0.0, 6.5), (6.5, 12.0)]
    """
    between = [(before[1] + after[0]) / 2 for before, after in pairwise(truth)]
    return list(zip([0.0, *between], [*between, float(points)], strict=True))


def _event_precision(event: Interval, zone: Interval, flags: Numbers) -> float:
    """Compute how surely flags (pieces, 2) are nearer to the event than a random moment."""
    (start, stop), (low, high) = event, zone

    def nearer(x: Numbers) -> Numbers:
        distance = _distance(x, _pieces([event]))
        return np.where(distance > 0, _farther(distance, start, stop, zone), 1.0)

    kinks = [
        start,
        stop,
        start - (high - stop),
        stop + (start - low),
    ]  # in the event; as far as one end of the zone
    return _mean(nearer, flags, np.array(kinks))


def _event_recall(event: Interval, zone: Interval, flags: Numbers) -> float:
    """Compute how surely moments of the event are nearer to a flag than to a random moment."""
    starts, stops = flags.T

    def nearer(y: Numbers) -> Numbers:
        return _farther(_distance(y, flags), y, y, zone)

    halfway = (stops[:-1] + starts[1:]) / 2
    ends = [
        (zone[0] + starts[0]) / 2,
        (zone[1] + stops[-1]) / 2,
    ]  # as far from the flag as from the zone's end
    return _mean(nearer, _pieces([event]), np.concatenate([flags.ravel(), halfway, ends]))


def _distance(x: Numbers, pieces: Numbers) -> Numbers:
    """Measure from each moment to the nearest of the pieces, which are apart and in order.

    >>> _distance(np.array([0.0, 2.5, 4.0, 5.5]), np.array([[2.0, 3.0], [6.0, 7.0]])).tolist()
    [2.0, 0.0, 1.0, 0.5]
    """
    starts, stops = pieces.T
    after = np.searchsorted(starts, x, side="right")  # the first piece that starts later
    behind = np.maximum(x - np.append(-np.inf, stops)[after], 0.0)
    return np.minimum(behind, np.append(starts, np.inf)[after] - x)


def _farther(
    distance: Numbers, start: Numbers | float, stop: Numbers | float, zone: Interval
) -> Numbers:
    """Compute the share of the zone that is farther from [start, stop] than `away`."""
    low, high = zone
    return 1 - (np.minimum(stop + distance, high) - np.maximum(start - distance, low)) / (
        high - low
    )


def _mean(value: Callable[[Numbers], Numbers], pieces: Numbers, kinks: Numbers) -> float:
    """Average a function over pieces: it is linear between kinks, so midpoints are exact."""
    edges = np.unique(np.append(pieces.ravel(), kinks))
    middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    width[_distance(middle, pieces) > 0] = 0.0
    return float(value(middle) @ width / width.sum())


def _pieces(intervals: list[tuple[int, int]] | list[Interval]) -> Numbers:
    return np.array(intervals, dtype=float).reshape(-1, 2)


METRIC = Metric("affiliation F1", lambda case: affiliation(case.labels, case.flags).f1, order=4)
