"""Residuals: how far each value is from its prediction, in two passes, with bounded memory."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.methods.base import Method
from locant.anomaly.detector.segments import Flags, Floats, Segment
from locant.anomaly.series.units import Units

PART_ROWS = 20_000  # rows that are predicted at a time
MIN_MARGIN = 64  # rows beside a part, at least, that it is predicted from
HIDE_ABOVE = (
    0.98  # quantile of the first pass's residuals above which rows are hidden in the second
)
MAX_HIDDEN = 0.1  # share of the rows that may be hidden
MIN_SCALE = 1e-3  # of a column's spread: a smaller residual is none
TRIMMED = 0.95  # the scale is the mean of this share of the residuals, the smallest


class Residuals(NamedTuple):
    """Predictions and absolute residuals, (T,F) each, in units of the clean part."""

    expected: Floats
    residual: Floats


def compute_residuals(
    method: Method, units: Units, values: Floats, positions: Floats, limit: float | None = None
) -> Residuals:
    """Predict values (T,F) at positions (T,) twice; the second pass hides the worst rows.

    limit  the residual above which a row is hidden; by default the largest 2 % of the first pass
    """
    series = Segment(units.seen(values), positions)
    parts = []
    for start, stop, low, high in _parts(len(values), max(method.min_rows, MIN_MARGIN)):
        part, true = series.part(low, high), units.scaled(values[low:high])
        first = method.predict(part, np.zeros(high - low, np.bool_))
        second = method.predict(part, _hidden(np.abs(true - first).max(1), limit))
        parts.append(second[start - low : stop - low])
    expected = np.concatenate(parts)
    return Residuals(expected, np.abs(units.scaled(values) - expected))


def residual_scale(residual: Floats) -> Floats:
    """Compute a robust scale of each column, (F,), from residuals (T,F) that may hold anomalies.

    >>> residual_scale(np.array([[1.0], [3.0], [1e9]])).tolist()
    [2.0]
    """
    edge = np.quantile(residual, TRIMMED, axis=0, method="lower")
    small = np.where(residual <= edge, residual, np.nan)
    return np.maximum(np.nanmean(small, axis=0), MIN_SCALE)


def _hidden(residual: Floats, limit: float | None) -> Flags:
    """Flag the rows (T,) to hide: those above the limit, never more than a tenth."""
    if limit is None:
        return residual > np.quantile(residual, HIDE_ABOVE)
    return residual > max(limit, float(np.quantile(residual, 1 - MAX_HIDDEN)))


def _parts(length: int, margin: int) -> list[tuple[int, int, int, int]]:
    """Split rows into parts start..stop, each with a margin on either side: low..high.

    >>> _parts(45_000, 100)
    [(0, 22500, 0, 22600), (22500, 45000, 22400, 45000)]
    """
    count = max(1, round(length / PART_ROWS))
    edges = np.linspace(0, length, count + 1).astype(int).tolist()
    parts = []
    for start, stop in pairwise(edges):
        parts.append((start, stop, max(0, start - margin), min(length, stop + margin)))
    return parts
