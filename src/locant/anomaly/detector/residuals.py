"""Residuals: how far each value is from its prediction, in two passes, with bounded memory.

A value that was not observed is NaN and has the residual NaN: it is neither scored nor counted.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.methods.base import Method
from locant.anomaly.detector.time_grid import Flags, Floats, Layout
from locant.anomaly.metrics.smoothing import smooth

PART_ROWS = 20_000  # rows that are predicted at a time
MIN_MARGIN = 64  # rows beside a part, at least, that it is predicted from
HIDE_ABOVE = (
    0.98  # quantile of the first pass's residuals above which rows are hidden in the second
)
MAX_HIDDEN = 0.1  # share of the rows that may be hidden
MIN_SHARE = 1e-2  # √ of the share of the rows near one that must be observed
MIN_SCALE = 1e-3  # of a column's spread: a smaller residual is none
TRIMMED = 0.95  # the scale is the mean of this share of the residuals, the smallest


class Residuals(NamedTuple):
    """Predictions and absolute residuals, (T,F) each, in units of the clean part."""

    expected: Floats
    residual: Floats


def fit_method(method: Method, layout: Layout, values: Floats, positions: Floats) -> Method:
    """Let a method learn from rows (T,F) at positions (T,), as it will see new ones."""
    method.fit(layout.cells(values, positions, takes_times=method.takes_times).segment)
    return method


def compute_residuals(
    method: Method, layout: Layout, values: Floats, positions: Floats, limit: float | None = None
) -> Residuals:
    """Predict values (T,F) at positions (T,) twice; the second pass hides the worst rows.

    limit  the residual above which a row is hidden; by default the largest 2 % of the first pass
    """
    true = layout.units.scaled(values)
    parts = []
    for start, stop, low, high in _parts(len(values), max(method.min_rows, MIN_MARGIN)):
        rows = slice(low, high)
        cells = layout.cells(values[rows], positions[rows], takes_times=method.takes_times)
        hidden = np.zeros(len(cells.segment.values), np.bool_)
        first = cells.at_rows(method.predict(cells.segment, hidden))
        hidden[cells.nearest()] = _hidden(row_maximum(np.abs(true[rows] - first)), limit)
        second = cells.at_rows(method.predict(cells.segment, hidden))
        parts.append(second[start - low : stop - low])
    expected = np.concatenate(parts)
    return Residuals(expected, np.abs(true - expected))


def row_maximum(residual: Floats) -> Floats:
    """Take the largest of each row (T,F); 0 where nothing was observed, (T,)."""
    return np.fmax.reduce(residual, axis=1, initial=0.0)


def residual_scale(residual: Floats) -> Floats:
    """Compute a robust scale of each column, (F,), from residuals (T,F) that may hold anomalies.

    >>> residual_scale(np.array([[1.0], [3.0], [1e9], [np.nan]])).tolist()
    [2.0]
    """
    scales = []
    for column in residual.T:
        known = column[~np.isnan(column)]
        if not len(known):
            scales.append(1.0)
            continue
        edge = np.quantile(known, TRIMMED, method="lower")
        scales.append(max(float(known[known <= edge].mean()), MIN_SCALE))
    return np.array(scales)


def smooth_observed(residual: Floats, width: int) -> Floats:
    """Smooth residuals (T,F) along time over what was observed; 0 where nothing is near.

    >>> smooth_observed(np.array([[2.0], [np.nan], [2.0], [2.0]]), 1).round(6).ravel().tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    known = ~np.isnan(residual)
    if known.all():
        return smooth(residual, width)
    if width == 0:
        return np.where(known, residual, 0.0)
    weight = smooth(known.astype(np.float64), width)  # √ of the share that was observed
    seen = smooth(np.where(known, residual, 0.0), width)
    return np.where(weight > MIN_SHARE, seen / np.maximum(weight, MIN_SHARE), 0.0)


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
