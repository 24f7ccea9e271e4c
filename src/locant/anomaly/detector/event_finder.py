"""Events: the rows that cause high scores, as stretches and as spikes, each as short as its cause.

A spike is a row whose own residual is beyond the threshold of single rows. A stretch is found where
smoothed residuals are high although no row counts there for more than a spike; it is narrowed to
the rows whose residuals are least like the usual ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from locant.anomaly.detector.residuals import row_maximum, smooth_observed
from locant.anomaly.detector.threshold import ScaleThreshold, Threshold
from locant.anomaly.detector.time_grid import Flags, Floats
from locant.anomaly.metrics.events import events
from locant.anomaly.series import Series

if TYPE_CHECKING:
    from locant.anomaly.detector.calibration import Calibration

MAX_NAMED_COLUMNS = 3  # that an event names
BLAME = 0.5  # a column is at fault when it has at least this part of the worst column's residual
ECHO = 1 / 3  # of the largest residual: smaller ones beside it are its echo
JOIN = 2  # rows: spikes that are nearer are one event
MAX_STRETCHES = 20  # in one run of high scores
MAX_BLOCKS = 400  # into which a run is cut to find its cause


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


class Scored(NamedTuple):
    """Scores of rows, (T,F) each."""

    by_column: Floats  # in units of the first scale
    residual: Floats  # scaled, of single rows; 0 where nothing was observed
    smoothed: Floats  # with no row counting for more than a spike


def score_residuals(scaled: Floats, threshold: Threshold) -> Scored:
    """Score scaled residuals (T,F), NaN where nothing was observed, at every scale.

    The score of a row is its smoothed residual. A single row beyond its own threshold has a score
    as far above the threshold of the smoothed ones.
    """
    first, single = threshold.scales[0], threshold.single_rows
    smoothed = smooth_observed(scaled, first.width)
    residual = np.where(np.isnan(scaled), 0.0, scaled)
    if first.width == 0:
        return Scored(smoothed, residual, smoothed)
    as_spike = residual * (first.value / single)
    spikes = residual > single
    by_column = np.where(spikes, np.maximum(smoothed, as_spike), smoothed)
    if spikes.any():
        smoothed = smooth_observed(np.minimum(scaled, single), first.width)
    return Scored(by_column, residual, smoothed)


def find_events(
    series: Series, expected: Floats, scored: Scored, calibration: Calibration
) -> tuple[Event, ...]:
    """Find the events in scored rows; expected (T,F) is in the series' own units."""
    observed = np.ones(len(expected), np.bool_)
    if series.observed is not None:
        observed = np.asarray(series.observed.any(1))
    runs = events(_join_runs(_anomalous(scored, calibration.threshold), JOIN))
    found = []
    worst = row_maximum(scored.residual)
    for start, stop in runs:
        caused = worst[start:stop] > ECHO * worst[start:stop].max()
        rows = start + np.flatnonzero(observed[start:stop] & caused)
        if len(rows):  # what the file does not hold is no event
            found.append(_event(series, expected, scored, int(rows[0]), int(rows[-1]) + 1))
    return tuple(found)


def anomalous_rows(scaled: Floats, threshold: Threshold) -> Flags:
    """Flag the rows (T,) of stretches and spikes in scaled residuals (T,F)."""
    return _anomalous(score_residuals(scaled, threshold), threshold)


def _anomalous(scored: Scored, threshold: Threshold) -> Flags:
    """Flag the rows (T,) of stretches and spikes."""
    inside = row_maximum(scored.residual) > threshold.single_rows
    if threshold.scales[0].width:
        for start, stop in _stretches(scored, threshold.scales[0], threshold.single_rows):
            inside[start:stop] = True
    return inside


def _stretches(scored: Scored, scale: ScaleThreshold, largest: float) -> Iterator[tuple[int, int]]:
    """Narrow each run of high smoothed scores to its causes: rows start..stop−1."""
    high = row_maximum(scored.smoothed) > scale.value
    reach = 3 * scale.width
    for first, last in events(_join_runs(high, scale.width)):
        low, top = max(0, first - reach), min(len(high), last + reach)
        column = int(scored.smoothed[first:last].max(0).argmax())
        energy = np.minimum(scored.residual[low:top, column], largest) ** 2
        typical = scale.typical**2
        echo = energy < ECHO**2 * energy.max()
        energy[echo] = np.minimum(energy[echo], typical)
        for _ in range(MAX_STRETCHES):
            smoothed = smooth_observed(np.sqrt(energy)[:, None], scale.width)[:, 0]
            if smoothed[first - low : last - low].max(initial=0.0) <= scale.value:
                break
            start, stop = least_typical(energy / typical)
            energy[start:stop] = np.minimum(energy[start:stop], typical)
            yield low + start, low + stop


def least_typical(energy: Floats) -> tuple[int, int]:
    """Find the rows start..stop−1 whose squared residuals (T,) are least like usual ones, 1.

    Their mean m over L rows is the most likely cause: L·(m − 1 − ln m) is largest, the gain in
    log-likelihood of normal residuals with another variance there.

    >>> least_typical(np.array([1.0, 0.5, 9.0, 1.0, 9.0, 9.0, 0.5, 1.0]))
    (2, 6)
    """
    block = -(-len(energy) // MAX_BLOCKS)
    edges = np.arange(0, len(energy) + block, block).clip(max=len(energy))
    total = np.concatenate([[0.0], np.cumsum(energy)])[edges]  # (E,)
    rows = edges[None, :] - edges[:, None]  # (E,E)
    later = rows > 0
    mean = np.maximum((total[None, :] - total[:, None]) / np.where(later, rows, 1), 1.0)
    gain = np.where(later, rows * (mean - 1 - np.log(mean)), -1.0)
    start, stop = np.unravel_index(int(gain.argmax()), gain.shape)
    return _trimmed(energy, int(edges[start]), int(edges[stop]))


def _trimmed(energy: Floats, start: int, stop: int) -> tuple[int, int]:
    """Leave out usual rows at either end, as blocks of several rows may have."""
    unusual = np.flatnonzero(energy[start:stop] > 1)
    if not len(unusual):
        return start, stop
    return start + int(unusual[0]), start + int(unusual[-1]) + 1


def _join_runs(high: Flags, gap: int) -> Flags:
    """Join runs with fewer than `gap` rows between them.

    >>> _join_runs(np.array([1, 0, 1, 0, 0, 1], bool), 2).astype(int).tolist()
    [1, 1, 1, 0, 0, 1]
    """
    out = high.copy()
    for (_, stop), (start, _) in pairwise(events(high)):
        out[stop:start] |= start - stop < gap
    return out


def _event(series: Series, expected: Floats, scored: Scored, start: int, stop: int) -> Event:
    """Describe an event: its peak, and the columns at fault."""
    residual = scored.residual[start:stop]
    peak, worst = divmod(int(residual.argmax()), residual.shape[1])
    peak += start
    blame = np.sqrt((residual**2).mean(0))
    blame[worst] = blame.max()  # the column of the peak comes first
    at_fault = sorted(
        np.flatnonzero(blame >= BLAME * blame.max()),
        key=lambda column: (-blame[column], column != worst),
    )
    times = []
    if series.times is not None:
        times = [series.times[row] for row in (start, stop - 1, peak)]
    return Event(
        start,
        stop,
        float(scored.by_column[start:stop].max()),
        peak,
        tuple(series.names[column] for column in at_fault[:MAX_NAMED_COLUMNS]),
        float(series.values[peak, worst]),
        float(expected[peak, worst]),
        *times,
    )
