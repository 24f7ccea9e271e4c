"""The result of a detection: scores, the events that they show, what was chosen and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from locant.anomaly.detector.event_finder import Event
from locant.anomaly.detector.threshold import Threshold
from locant.anomaly.detector.time_grid import Flags, Floats, find_gaps
from locant.anomaly.series import Series

if TYPE_CHECKING:
    import polars as pl

    from locant.anomaly.detector.detector import Detector


@dataclass(frozen=True)
class Gap:
    """Rows that a regular series should have and the file does not hold: nothing judges them."""

    after: int  # the last row before it
    absent: int  # rows
    start_time: Any  # of the last row before it
    end_time: Any  # of the first row after it


@dataclass(frozen=True)
class Trial:
    """One line of the self-test: how well a candidate found faults injected into held-out rows."""

    method: str
    encoding: str  # "" for methods that take none
    found: dict[str, float]  # average precision by kind of fault
    mean: float
    seconds: float

    @property
    def name(self) -> str:
        """Return the method, with its encoding where it has one.

        >>> Trial("transformer", "rotary", {}, 0.9, 2.0).name
        'transformer (rotary)'
        """
        return f"{self.method} ({self.encoding})" if self.encoding else self.method


@dataclass(frozen=True)
class Chosen:
    """What was chosen, and the reasons in a sentence each."""

    method: str
    encoding: str
    season: int | None  # in steps of the clock; in rows without times
    smooth: int  # standard deviation of the smoothing, in rows
    real_times: bool  # whether true times are positions
    why: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Detection:
    """Scores for every row, and the events that they show."""

    series: Series
    scores: Floats  # (T,) the largest over columns
    by_column: Floats  # (T,F)
    expected: Floats  # (T,F) in the series' own units
    threshold: Threshold
    events: tuple[Event, ...]  # in the order of time
    chosen: Chosen
    self_test: tuple[Trial, ...]  # the best first
    detector: Detector  # to be saved, or to score other series
    baseline_scores: dict[str, Floats] = field(default_factory=dict)  # (T,) each, when asked for
    files: tuple[Path, ...] = ()  # that were written

    @property
    def flags(self) -> Flags:
        """Flag the rows of the file that are in an event, (T,)."""
        inside = np.zeros(len(self.scores), np.bool_)
        for event in self.events:
            inside[event.start : event.stop] = True
        if self.series.observed is not None:
            inside &= self.series.observed.any(1)
        return inside

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """List the gaps of a regular series, in the order of time."""
        axis, times = self.detector.time_axis, self.series.times
        if times is None or not axis.regular:
            return ()
        found = find_gaps(axis.positions(times, len(times)))
        return tuple(Gap(row, absent, times[row], times[row + 1]) for row, absent in found)

    @cached_property
    def evaluation(self) -> dict[str, float]:
        """Evaluate scores and events against the labels: every metric by name; empty without."""
        from locant.anomaly.detector.evaluation import evaluate

        return evaluate(self)

    @cached_property
    def baseline_evaluation(self) -> dict[str, float]:
        """Compute VUS-PR of each baseline that was asked for; empty without labels."""
        from locant.anomaly.detector.evaluation import evaluate_baselines

        return evaluate_baselines(self)

    def headline(self) -> str:
        """Describe the events in one line."""
        from locant.anomaly.detector.outputs import headline

        return headline(self)

    def table(self) -> pl.DataFrame:
        """Return one record a row: time, score, event, and values and predictions by column."""
        from locant.anomaly.detector.outputs import scores_table

        return scores_table(self)

    def events_frame(self) -> pl.DataFrame:
        """Return one record an event: start, end, rows, score, columns, peak, value, prediction."""
        from locant.anomaly.detector.outputs import events_frame

        return events_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Return events, choices and evaluation as plain values, ready for JSON."""
        from locant.anomaly.detector.outputs import summary

        return summary(self)

    def write(self, folder: str | Path, *, parquet: bool = False) -> tuple[Path, ...]:
        """Write scores.csv (and scores.parquet), events.csv and events.json into a folder."""
        from locant.anomaly.detector.outputs import write_files

        return write_files(self, Path(folder), parquet=parquet)
