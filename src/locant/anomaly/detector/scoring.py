"""From what a method expects to how far each point is from it: two passes, in parts, so that memory stays bounded."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.method import Flags, Floats, Method, Stretch
from locant.lab.tasks._units import Units

SEGMENT = 20_000  # rows that are judged at a time
HIDE_ABOVE, HIDE_MOST = 0.98, 0.1  # a second pass does not believe what deviated most in the first
LEAST = 1e-3  # of a column's size: a deviation that is smaller is none
BELIEVED = 0.95  # the usual deviation is a mean over so many points, the smallest


class Judged(NamedTuple):
    """What was expected, and how far the values are from it, in units of the clean part: (T,F) each."""

    expected: Floats
    away: Floats


def judge(
    method: Method, units: Units, values: Floats, at: Floats, limit: float | None = None
) -> Judged:
    """Judge values (T,F) at their places (T,), twice: the second time what looked wrong is hidden from its neighbours.

    limit  the deviation above which a point looks wrong; by default the largest 2 % of the first pass
    """
    seen = Stretch(units.seen(values), at)
    parts = []
    for start, stop, low, high in _segments(len(values), max(method.least, 64)):
        part, true = seen.part(low, high), units.scaled(values[low:high])
        first = method.expect(part, np.zeros(high - low, np.bool_))
        second = method.expect(part, _doubted(np.abs(true - first).max(1), limit))
        parts.append(second[start - low : stop - low])
    expected = np.concatenate(parts)
    return Judged(expected, np.abs(units.scaled(values) - expected))


def usual(away: Floats) -> Floats:
    """The usual deviation of each column, (F,), from deviations (T,F), some of which may be anomalies.

    >>> usual(np.array([[1.0], [3.0], [1e9]])).tolist()
    [2.0]
    """
    edge = np.quantile(away, BELIEVED, axis=0, method="lower")
    small = np.where(away <= edge, away, np.nan)
    return np.maximum(np.nanmean(small, axis=0), LEAST)


def _doubted(away: Floats, limit: float | None) -> Flags:
    """Which points are not believed, (T,): those above the limit, never more than a tenth."""
    if limit is None:
        return away > np.quantile(away, HIDE_ABOVE)
    return away > max(limit, float(np.quantile(away, 1 - HIDE_MOST)))


def _segments(length: int, margin: int) -> list[tuple[int, int, int, int]]:
    """Parts start..stop with a margin on either side, low..high.

    >>> _segments(45_000, 100)
    [(0, 22500, 0, 22600), (22500, 45000, 22400, 45000)]
    """
    edges = np.linspace(0, length, max(1, round(length / SEGMENT)) + 1).astype(int).tolist()
    pairs = pairwise(edges)
    return [
        (start, stop, max(0, start - margin), min(length, stop + margin)) for start, stop in pairs
    ]
