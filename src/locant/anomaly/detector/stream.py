"""Score rows one at a time, as they come: nothing is known of what follows, and memory is bounded.

A row is predicted from the rows before it, so residuals are larger than in a file. The last clean
rows are scored in the same way first, to learn how large they usually are; a stream that goes on
from another knows it. Smoothing reaches back only. A row that looked wrong is hidden from its
successors. After a gap longer than the context, the first rows only fill it again: their scores
are 0. At the end the rows are judged once more, in one go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.detection import Detection
from locant.anomaly.detector.detector import Detector, StreamState
from locant.anomaly.detector.event_finder import Scored, find_events
from locant.anomaly.detector.residuals import residual_scale
from locant.anomaly.detector.time_grid import Floats
from locant.anomaly.metrics.smoothing import bell
from locant.anomaly.series import FileSummary, Row, Series
from locant.anomaly.series.repairs import Rows, fill_missing, sort_by_time
from locant.anomaly.series.series import step_and_irregularity


class ScoredRow(NamedTuple):
    """One row: its score; and of its columns, (F,) each, score, prediction, scaled residual, and
    the smoothed residual in which no row counts for more than a spike."""

    score: float
    by_column: Floats
    expected: Floats
    residual: Floats
    smoothed: Floats


class Stream:
    """Scores row after row."""

    def __init__(self, detector: Detector) -> None:
        rows, width = detector.method.context_rows(), detector.chosen.smooth
        weights = bell(width)[: 3 * width + 1] if width else np.ones(1)
        self.detector = detector
        self.values: deque[Floats] = deque(maxlen=rows)  # (F,) each, NaN where nothing was observed
        self.positions: deque[float] = deque(maxlen=rows)
        self.hidden: deque[bool] = deque(maxlen=rows)
        self.weights = weights[::-1]  # the newest row first
        self.past: deque[Floats] = deque(maxlen=len(weights))  # scaled residuals, (F,) each
        self.scale = detector.calibration.scale
        if detector.stream is None:
            self._rehearse()
        else:
            self._go_on(detector.stream)

    def next_position(self) -> float:
        """Return the position of the next row, where rows are counted."""
        if self.detector.stream is None:
            return float(self.detector.time_axis.rows)
        return self.positions[-1] + 1

    def state(self) -> StreamState:
        """Return all that the next row is scored with: a stream goes on from it."""
        columns = len(self.detector.names)
        return StreamState(
            np.array(self.values).reshape(-1, columns),
            np.array(self.positions),
            np.array(self.hidden, np.bool_),
            np.array(self.past).reshape(-1, columns),
            self.scale,
        )

    def push(self, values: Floats, position: float) -> ScoredRow:
        """Score the next row (F,) at its position. A missing value (NaN) counts as expected."""
        expected, residual = self._predict(values, position)
        scaled = residual / self.scale
        self.past.append(scaled)
        threshold = self.detector.calibration.threshold
        smoothed, single = self._smoothed(np.inf), threshold.single_rows
        as_spike = scaled * (threshold.value / single)
        by_column = np.where(scaled > single, np.maximum(smoothed, as_spike), smoothed)
        expected = self.detector.units.back(expected)
        return ScoredRow(
            float(by_column.max()), by_column, expected, scaled, self._smoothed(single)
        )

    def _rehearse(self) -> None:
        """Score the last clean rows, to learn how large residuals usually are."""
        recent, rows = self.detector.recent, self.detector.method.context_rows()
        begin = min(rows, len(recent.values))
        self.values.extend(recent.values[:begin])
        self.positions.extend(recent.positions[:begin].tolist())
        self.hidden.extend([False] * begin)
        rehearsed = []
        for values, position in zip(recent.values[begin:], recent.positions[begin:], strict=True):
            rehearsed.append(self._predict(values, float(position))[1])
        if rehearsed:
            self.scale = np.maximum(residual_scale(np.stack(rehearsed)), self.scale)
        self.past.extend(residual / self.scale for residual in rehearsed)

    def _go_on(self, state: StreamState) -> None:
        """Go on where a stream ended."""
        self.values.extend(state.values)
        self.positions.extend(state.positions.tolist())
        self.hidden.extend(state.hidden.tolist())
        self.past.extend(state.past)
        self.scale = state.scale

    def _smoothed(self, largest: float) -> Floats:
        """Smooth the last residuals, none counting for more than the largest: (F,)."""
        past = np.minimum(np.stack(self.past)[::-1], largest)  # (rows, F), the newest first
        weights = self.weights[: len(past)]
        return np.sqrt((weights[:, None] * past**2).sum(0) / weights.sum())

    def _predict(self, values: Floats, position: float) -> tuple[Floats, Floats]:
        """Predict a row, and return its residual too; the row becomes part of the context."""
        layout, method = self.detector.layout, self.detector.method
        limit = self.values.maxlen
        if self.positions and limit and abs(position - self.positions[-1]) > limit:
            self._forget()
        self.values.append(values)
        self.positions.append(position)
        self.hidden.append(False)
        past, at = np.stack(self.values), np.array(self.positions)
        cells = layout.cells(past, at, takes_times=method.takes_times)
        seen = cells.segment.values
        if len(self.values) < method.min_rows:
            return seen[-1], np.zeros_like(values)
        hidden = np.zeros(len(seen), np.bool_)
        hidden[cells.nearest()] = list(self.hidden)
        expected = cells.at_rows(method.predict(cells.segment, hidden))[-1]
        scaled = layout.units.scaled(values)
        residual = np.where(np.isnan(scaled), 0.0, np.abs(scaled - expected))
        self.hidden[-1] = bool(residual.max() > self.detector.calibration.limit)
        return expected, residual

    def _forget(self) -> None:
        """Empty the context: after a gap in time, earlier rows predict nothing."""
        for kept in (self.values, self.positions, self.hidden, self.past):
            kept.clear()


def as_detection(detector: Detector, rows: Sequence[Row], scored: Sequence[ScoredRow]) -> Detection:
    """Judge the rows of a stream in one go, as a file of them is; where they are fewer than the
    method needs, collect the scores that they had one at a time."""
    whole = as_series(rows)
    if len(whole.values) >= detector.method.min_rows:
        return detector.detect(whole)
    series = as_series(rows, in_time=False)
    by_column = np.stack([one.by_column for one in scored])
    expected = np.stack([one.expected for one in scored])
    residual = np.stack([one.residual for one in scored])
    known = detector.calibration
    smoothed = np.stack([one.smoothed for one in scored])
    events = find_events(series, expected, Scored(by_column, residual, smoothed), known)
    return Detection(
        series,
        by_column.max(1),
        by_column,
        expected,
        known.threshold,
        events,
        detector.chosen,
        detector.trials,
        detector,
    )


def as_series(rows: Sequence[Row], *, in_time: bool = True) -> Series:
    """Collect the rows of a stream into a series without gaps.

    in_time  whether to sort the rows by time; otherwise they stay in the order in which they came

    >>> row = Row(1, None, np.array([2.0]), ["load"], [])
    >>> as_series([row, row._replace(values=np.array([np.nan]))]).values.tolist()
    [[2.0], [2.0]]
    """
    if not rows:
        raise ValueError("the stream has no row. A series needs at least two.")
    notes: list[str] = []
    names = rows[0].names
    times = None if rows[0].time is None else np.array([row.time for row in rows])
    table = Rows(np.stack([row.values for row in rows]), times, None)
    if in_time:
        table = sort_by_time(table, notes)
    _check_columns(names, table.values)
    values = fill_missing(table.values, table.times, names, notes)
    time = None if times is None else "found in the stream"
    known = FileSummary("the stream", "stream", len(values), len(names), time)
    if table.times is not None and len(values) > 1:
        step, irregular = step_and_irregularity(table.times)
        missing = int(np.isnan(table.values).sum())
        ends = (table.times[0], table.times[-1])
        known = FileSummary(
            "the stream", "stream", len(values), len(names), time, *ends, step, irregular, missing
        )
    present = ~np.isnan(table.values)
    observed = None if present.all() else present
    return Series(values, tuple(names), table.times, None, None, known, notes, observed)


def _check_columns(names: Sequence[str], values: Floats) -> None:
    """Refuse columns without any number."""
    empty = []
    for name, column in zip(names, values.T, strict=True):
        if np.isnan(column).all():
            empty.append(name)
    if empty:
        raise ValueError(
            f"the stream has no number in {', '.join(empty)}. Leave it out: --columns."
        )
