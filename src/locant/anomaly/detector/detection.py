"""The result of a detection: scores, the events that they show, what was chosen and why.

An event is a run of high smoothed scores, narrowed to the rows that caused it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from locant.anomaly.detector.segments import Flags, Floats
from locant.anomaly.detector.threshold import Threshold
from locant.anomaly.metrics.events import events
from locant.anomaly.series import Series

if TYPE_CHECKING:
    import polars as pl

    from locant.anomaly.detector.calibration import Calibration
    from locant.anomaly.detector.detector import Detector

MAX_NAMED_COLUMNS = 3  # that an event names
ECHO = 0.25  # of the largest residual: smaller ones beside it are its echo
BLAME = 0.5  # a column is at fault when it has at least this part of the worst column's score


@dataclass(frozen=True)
class Event:
    """An anomalous segment: the rows start..stop−1."""

    start: int
    stop: int
    score: float  # the largest in it, in units of the usual residual
    peak: int  # the row with the largest residual
    columns: tuple[str, ...]  # those at fault, the worst first
    value: float  # of the worst column at the peak
    expected: float  # the prediction of that value
    start_time: Any = None  # datetime64[ns] or float, None without times
    end_time: Any = None  # of its last row
    peak_time: Any = None


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
    season: int | None  # in rows
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
        """Flag the rows that are in an event, (T,)."""
        inside = np.zeros(len(self.scores), np.bool_)
        for event in self.events:
            inside[event.start : event.stop] = True
        return inside

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

    def to_dict(self) -> dict[str, Any]:
        """Return events, choices and evaluation as plain values, ready for JSON."""
        from locant.anomaly.detector.outputs import summary

        return summary(self)

    def write(self, folder: str | Path, *, parquet: bool = False) -> tuple[Path, ...]:
        """Write scores.csv (and scores.parquet), events.csv and events.json into a folder."""
        from locant.anomaly.detector.outputs import write_files

        return write_files(self, Path(folder), parquet=parquet)


def find_events(
    series: Series,
    expected: Floats,
    by_column: Floats,
    residual: Floats,
    calibration: Calibration,
    gap: int,
) -> tuple[Event, ...]:
    """Find runs of scores above the threshold, and narrow each to its outliers.

    expected, by_column, residual  (T,F): in the series' own units; smoothed scores; scaled
                                   residuals before smoothing
    gap                            runs that are nearer than this are one event
    """
    high = by_column.max(1) > calibration.threshold.value
    runs = events(_join_runs(high, gap))
    outlier = calibration.outlier
    return tuple(_event(series, expected, by_column, residual, outlier, run) for run in runs)


def _join_runs(high: Flags, gap: int) -> Flags:
    """Join runs with fewer than `gap` rows between them.

    >>> _join_runs(np.array([1, 0, 1, 0, 0, 1], bool), 2).astype(int).tolist()
    [1, 1, 1, 0, 0, 1]
    """
    out = high.copy()
    for (_, stop), (start, _) in pairwise(events(high)):
        out[stop:start] |= start - stop < gap
    return out


def _event(
    series: Series,
    expected: Floats,
    by_column: Floats,
    residual: Floats,
    outlier: float,
    run: tuple[int, int],
) -> Event:
    """Narrow a run to its outliers, and name its peak and the columns at fault."""
    rows = slice(*run)
    worst_residual = residual[rows].max(1)
    limit = max(outlier, ECHO * worst_residual.max())
    outliers = run[0] + np.flatnonzero(worst_residual > limit)
    start, stop = (int(outliers[0]), int(outliers[-1]) + 1) if len(outliers) else run
    peak, worst = divmod(int(residual[start:stop].argmax()), residual.shape[1])
    peak += start
    highest = by_column[rows].max(0)
    highest[worst] = max(highest[worst], highest.max())  # the column of the peak comes first
    at_fault = sorted(
        np.flatnonzero(highest >= BLAME * highest.max()),
        key=lambda column: (-highest[column], column != worst),
    )
    times = []
    if series.times is not None:
        times = [series.times[row] for row in (start, stop - 1, peak)]
    return Event(
        start,
        stop,
        float(by_column[rows].max()),
        peak,
        tuple(series.names[column] for column in at_fault[:MAX_NAMED_COLUMNS]),
        float(series.values[peak, worst]),
        float(expected[peak, worst]),
        *times,
    )
