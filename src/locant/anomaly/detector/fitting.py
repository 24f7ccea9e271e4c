"""Train a detector on a series: its season, the self-test, the method that wins, its threshold."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from locant._internal.threads import one_thread
from locant.anomaly.detector.calibration import HELD_OUT, Calibration, hold_out_first_rows
from locant.anomaly.detector.detection import Chosen, Detection, Trial
from locant.anomaly.detector.detector import Detector
from locant.anomaly.detector.methods import Candidate, candidates
from locant.anomaly.detector.methods.base import Progress, TrainingData
from locant.anomaly.detector.residuals import compute_residuals, fit_method
from locant.anomaly.detector.season import find_seasons, season_text
from locant.anomaly.detector.self_test import count_found, self_test
from locant.anomaly.detector.settings import ENCODING, WHY, Settings
from locant.anomaly.detector.threshold import check_rate
from locant.anomaly.detector.time_grid import (
    Floats,
    Layout,
    Segment,
    TimeAxis,
    observed_values,
    units_of,
)
from locant.anomaly.metrics.smoothing import default_width
from locant.anomaly.series import Series

MIN_ROWS = 100  # to learn from
MAX_ABSENT = 0.02  # share of the rows, beyond which true times are positions, not patches counted
REHEARSED = (
    100  # rows, after those that a row is predicted from, that a detector keeps for a stream
)


def fit_and_detect(
    series: Series, settings: Settings, train: Series | None, progress: Progress
) -> Detection:
    """Train a detector on a series, or on another one, and detect anomalies in the series."""
    source = series if train is None else train
    rows = _training_rows(series, settings, train)
    check_rate(settings.threshold, 2 * int(HELD_OUT * rows))
    axis, clean = TimeAxis.of(source), observed_values(source)[:rows]
    every_position = axis.positions(source.times, len(source.values), training=True)
    positions = every_position[:rows]
    layout = Layout(units_of(clean), axis.regular)
    seasons = (settings.season,) if settings.season else _seasons(layout, clean, positions)
    season = seasons[0] if seasons else None
    layout = replace(layout, season=season)
    data = TrainingData(
        rows=rows,
        columns=len(source.names),
        season=season,
        given_season=settings.season,
        irregular=not axis.regular or _absent(positions) > MAX_ABSENT,
        steps=settings.steps,
        seed=settings.seed,
    )
    with one_thread():
        entrants = candidates(settings.method, settings.encodings, data)
        test = self_test(entrants, layout, clean, positions, settings.seed, progress)
        best = test.best
        first_rows = hold_out_first_rows(best, layout, clean, positions, progress)
        method = best.make(partial(progress, f"training: {best.name}"))
        fit_method(method, layout, clean, positions)
        progress("scoring", 0.0)
        fitted = None
        if train is None and rows == len(series.values):  # then all rows together set the scale
            fitted = compute_residuals(method, layout, clean, positions)
        width = default_width(rows) if settings.smooth is None else settings.smooth
        real_times = bool(best.settings.get("real"))
        residual = None if fitted is None else fitted.residual
        blocks = (first_rows, test.held_out)
        calibration = Calibration.of(blocks, residual, layout, width, settings.threshold)
        counts = [f"{kind} {n}" for kind, n in count_found(test.faulty, calibration).items()]
        used = f"With the smoothing and thresholds that are used it finds {', '.join(counts)}."
        why = (*_reasons(test.trials, settings, seasons, best, axis), *([used] if counts else []))
        chosen = Chosen(best.method, best.encoding, season, width, real_times, why)
        kept = method.context_rows() + REHEARSED
        recent = Segment(clean, positions).part(max(0, rows - kept), rows)
        detector = Detector(
            source.names, best, method, layout, axis, calibration, chosen, test.trials, recent
        )
        if train is not None:
            return detector.detect(series)
        if fitted is None:
            limit = calibration.limit
            values = observed_values(series)
            fitted = compute_residuals(method, layout, values, every_position, limit)
        return detector.detection_of(series, fitted)


def _training_rows(series: Series, settings: Settings, train: Series | None) -> int:
    """Count the rows to learn from; refuse too few rows, and settings that need more."""
    source = series if train is None else train
    rows = len(source.values)
    if train is None:
        rows = int(settings.clean * rows)
    if rows < MIN_ROWS:
        raise ValueError(
            f"detect needs at least {MIN_ROWS} rows to learn from. "
            f"{source.summary.file} gives {rows}."
        )
    for name, asked, most in (
        ("season", settings.season, rows // 2),
        ("smooth", settings.smooth, rows),
    ):
        if asked is not None and asked > most:
            raise ValueError(
                f"detect was asked for {name}={asked}, but only {rows} rows are learned from. "
                f"Allowed: at most {most}."
            )
    return rows


def _absent(positions: Floats) -> float:
    """Return the share of the cells of a grid that hold no row."""
    cells = positions[-1] - positions[0] + 1
    return float(1 - len(positions) / max(cells, len(positions)))


def _seasons(layout: Layout, clean: Floats, positions: Floats) -> tuple[int, ...]:
    """Find the seasons of clean rows (T,F) by the clock, in steps."""
    grid = layout.cells(clean, positions).segment
    values = layout.units.back(grid.values) if grid.observed is not None else clean
    return find_seasons(values, grid.observed)


def _reasons(
    trials: tuple[Trial, ...],
    settings: Settings,
    seasons: tuple[int, ...],
    best: Candidate,
    axis: TimeAxis,
) -> tuple[str, ...]:
    """Explain the choice of method, encoding, season and positions, in a sentence each."""
    reasons = [_reason_for_method(trials)]
    if best.encoding == ENCODING and settings.encodings == (ENCODING,):
        reasons.append(f"Encoding {WHY}.")
    as_text = ", ".join(season_text(season, axis) for season in seasons)
    if not seasons:
        reasons.append("No season was found: nothing comes back after a fixed time.")
    elif settings.season:
        reasons.append(f"Season: {as_text}, as given.")
    else:
        reasons.append(f"Season: {as_text}, found where the series is most like itself again.")
    if not axis.regular:
        by = "true times are positions" if best.settings.get("real") else "it is read by the clock"
        reasons.append(f"The rows are not on a grid of equal steps: {by}.")
    return tuple(reasons)


def _reason_for_method(trials: tuple[Trial, ...]) -> str:
    """Explain the choice of the method by the self-test."""
    first = trials[0]
    if len(trials) == 1:
        return (
            f"{first.name} was asked for; "
            f"in the self-test it has an average precision of {first.mean:.2f}."
        )
    second = trials[1]
    return (
        f"{first.name} found the injected faults best: average precision {first.mean:.2f}, "
        f"before {second.name} with {second.mean:.2f}."
    )
