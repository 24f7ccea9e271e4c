"""From scores to events: where the smoothed score is high, and in there the points that caused it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from locant.anomaly.detector.detection import Event
from locant.anomaly.detector.method import Flags, Floats
from locant.anomaly.metrics.events import events
from locant.anomaly.series import Series

NAMED = 3  # columns that an event names at most
NEAR = 0.25  # of the largest deviation: smaller ones beside it are its echo
BLAME = 0.5  # a column is at fault when it has at least this part of the worst one's score


def find_events(
    series: Series,
    expected: Floats,
    by_column: Floats,
    away: Floats,
    threshold: float,
    odd: float,
    gap: int,
) -> tuple[Event, ...]:
    """Runs of scores above the threshold, each narrowed to its odd points.

    expected, by_column, away  (T,F): in the series' own units; smoothed scores; deviations before smoothing
    odd  the deviation from which a point is odd; gap: runs that are nearer than this are one
    """
    high = by_column.max(1) > threshold
    return tuple(
        _event(series, expected, by_column, away, odd, run) for run in events(_joined(high, gap))
    )


def _joined(high: Flags, gap: int) -> Flags:
    """Runs with fewer than `gap` points between them become one.

    >>> _joined(np.array([1, 0, 1, 0, 0, 1], bool), 2).astype(int).tolist()
    [1, 1, 1, 0, 0, 1]
    """
    out = high.copy()
    runs = events(high)
    for (_, stop), (start, _) in pairwise(runs):
        out[stop:start] |= start - stop < gap
    return out


def _event(
    series: Series,
    expected: Floats,
    by_column: Floats,
    away: Floats,
    odd: float,
    run: tuple[int, int],
) -> Event:
    rows = slice(*run)
    worst_there = away[rows].max(1)
    where = run[0] + np.flatnonzero(worst_there > max(odd, NEAR * worst_there.max()))
    start, stop = (int(where[0]), int(where[-1]) + 1) if len(where) else run
    peak, worst = divmod(int(away[start:stop].argmax()), away.shape[1])
    peak += start
    most = by_column[rows].max(0)
    most[worst] = max(most[worst], most.max())  # the column of the largest deviation comes first
    order = sorted(
        np.flatnonzero(most >= BLAME * most.max()),
        key=lambda column: (-most[column], column != worst),
    )
    times = [] if series.times is None else [series.times[row] for row in (start, stop - 1, peak)]
    return Event(
        start,
        stop,
        float(by_column[rows].max()),
        peak,
        tuple(series.names[column] for column in order[:NAMED]),
        float(series.values[peak, worst]),
        float(expected[peak, worst]),
        *times,
    )
