"""Rows judged one at a time, as they come: nothing is known of what follows, and memory does not grow.

A row is judged by the rows before it, so deviations are larger than in a file; the last clean rows are judged in the
same way first, to learn how large they usually are. Smoothing reaches back only. What looked wrong is hidden from its
successors. After a gap longer than the context, the first rows only fill it again: their scores are 0.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.detector import SEEN, Detector
from locant.anomaly.detector.method import Floats, Stretch
from locant.anomaly.detector.scoring import usual
from locant.anomaly.metrics.smoothing import bell


class Scored(NamedTuple):
    """One row: its score, those of its columns (F,), what was expected of them (F,), and deviations (F,)."""

    score: float
    by_column: Floats
    expected: Floats
    away: Floats


class Stream:
    """Judges row after row."""

    def __init__(self, detector: Detector) -> None:
        self.detector, rows = detector, max(detector.method.least, SEEN)
        recent, begin = detector.recent, min(rows, len(detector.recent.values))
        seen = detector.units.seen(recent.values)
        self.values = deque(seen[:begin], maxlen=rows)
        self.at = deque(recent.at[:begin].tolist(), maxlen=rows)
        self.hidden = deque([False] * begin, maxlen=rows)
        back = (
            bell(detector.chosen.smooth)[: 3 * detector.chosen.smooth + 1]
            if detector.chosen.smooth
            else np.ones(1)
        )
        self.weights = back[::-1]  # now first
        self.past: deque[Floats] = deque(maxlen=len(back))
        self.usual = detector.calibration.usual
        rehearsed = [
            self._away(values, at)[1]
            for values, at in zip(recent.values[begin:], recent.at[begin:], strict=True)
        ]
        if rehearsed:
            self.usual = np.maximum(usual(np.stack(rehearsed)), self.usual)
        self.past.extend(away / self.usual for away in rehearsed[-len(back) :])

    def push(self, values: Floats, at: float) -> Scored:
        """Judge the next row (F,), at its place in usual steps. A missing value (NaN) is taken as expected."""
        expected, away = self._away(values, at)
        self.past.append(away / self.usual)
        past = np.stack(self.past)[::-1]  # (rows, F), now first
        weights = self.weights[: len(past)]
        by_column = np.sqrt((weights[:, None] * past**2).sum(0) / weights.sum())
        return Scored(
            float(by_column.max()), by_column, self.detector.units.back(expected), away / self.usual
        )

    def _away(self, values: Floats, at: float) -> tuple[Floats, Floats]:
        """What was expected of a row and how far it is from it, in units; it becomes part of the context."""
        units = self.detector.units
        scaled = units.scaled(values)
        if self.values and abs(at - self.at[-1]) > SEEN:
            self._forget()
        last = self.values[-1] if self.values else np.zeros_like(values)
        self.values.append(np.where(np.isnan(scaled), last, units.seen(values)))
        self.at.append(at)
        self.hidden.append(False)
        series = Stretch(np.stack(self.values), np.array(self.at))
        if len(self.values) < self.detector.method.least:
            return series.values[-1], np.zeros_like(values)
        expected = self.detector.method.expect(series, np.array(self.hidden))[-1]
        away = np.where(np.isnan(scaled), 0.0, np.abs(scaled - expected))
        self.hidden[-1] = bool(away.max() > self.detector.calibration.limit)
        return expected, away

    def _forget(self) -> None:
        """After a gap in time what came before says nothing: rows are gathered again before one is judged."""
        for kept in (self.values, self.at, self.hidden, self.past):
            kept.clear()
