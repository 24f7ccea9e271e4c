"""Anomalies as events: runs of points, and the share of them that was noticed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from locant.anomaly.metrics._vectors import flags
from locant.anomaly.metrics.base import Metric


def events(labels: ArrayLike) -> list[tuple[int, int]]:
    """Return the runs of True as half-open intervals (start, stop), in order.

    >>> events([0, 1, 1, 0, 1])
    [(1, 3), (4, 5)]
    """
    true = flags("events", "labels", labels)
    edges = np.flatnonzero(
        np.diff(true.astype(np.int8), prepend=0, append=0)
    )  # starts and stops by turns
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def event_recall(windows: Iterable[tuple[int, int]], predicted: ArrayLike) -> float:
    """Compute the share of windows (start, stop), half open, with at least one flagged point.

    >>> event_recall([(0, 2), (3, 5)], [0, 0, 0, 0, 1])
    0.5
    """
    flagged = flags("event_recall", "predicted", predicted)
    found = [
        bool(flagged[start:stop].any()) for start, stop in _inside(list(windows), len(flagged))
    ]
    return sum(found) / len(found)


def _inside(windows: list[tuple[int, int]], points: int) -> list[tuple[int, int]]:
    if not windows:
        raise ValueError(
            "event_recall needs at least one window. Got none: there is no event to find."
        )
    for start, stop in windows:
        if not 0 <= start < stop <= points:
            raise ValueError(
                f"event_recall was given the window ({start}, {stop}), "
                f"but there are {points} points.\n"
                f"  A window holds the points start..stop−1, so 0 ≤ start < stop ≤ {points}."
            )
    return windows


METRIC = Metric("event recall", lambda case: event_recall(case.windows, case.flags), order=5)
