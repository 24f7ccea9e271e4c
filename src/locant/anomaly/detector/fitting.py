"""Train a detector on a series: its season, the self-test, the method that wins, its threshold."""

from __future__ import annotations

from functools import partial

from locant._internal.threads import one_thread
from locant.anomaly.detector.calibration import Calibration, hold_out_first_rows
from locant.anomaly.detector.detection import Chosen, Detection, Trial
from locant.anomaly.detector.detector import Detector
from locant.anomaly.detector.methods import Candidate, candidates
from locant.anomaly.detector.methods.base import Progress, TrainingData
from locant.anomaly.detector.residuals import compute_residuals
from locant.anomaly.detector.season import find_season
from locant.anomaly.detector.segments import Segment, TimeAxis
from locant.anomaly.detector.self_test import self_test
from locant.anomaly.detector.settings import ENCODING, WHY, Settings
from locant.anomaly.detector.stream import CONTEXT_ROWS
from locant.anomaly.metrics.smoothing import default_width
from locant.anomaly.series import Series
from locant.anomaly.series.units import Units

MIN_ROWS = 100  # to learn from
REHEARSED = (
    100  # rows, after those that a row is predicted from, that a detector keeps for a stream
)
IRREGULAR = 0.02  # from this share of irregular gaps on, true times are positions


def fit_and_detect(
    series: Series, settings: Settings, train: Series | None, progress: Progress
) -> Detection:
    """Train a detector on a series, or on another one, and detect anomalies in the series."""
    source = series if train is None else train
    rows = _training_rows(series, settings, train)
    axis, clean = TimeAxis.of(source), source.values[:rows]
    every_position = axis.positions(source.times, len(source.values), training=True)
    positions = every_position[:rows]
    units = Units.of(clean)
    season = settings.season or find_season(clean)
    data = TrainingData(
        rows=rows,
        columns=len(source.names),
        season=season,
        given_season=settings.season,
        irregular=_irregular(source) > IRREGULAR,
        steps=settings.steps,
        seed=settings.seed,
    )
    with one_thread():
        entrants = candidates(settings.method, settings.encodings, data)
        test = self_test(entrants, units, clean, positions, settings.seed, progress)
        best = test.best
        first_rows = hold_out_first_rows(best, units, clean, positions, progress)
        method = best.make(partial(progress, f"training: {best.name}"))
        method.fit(Segment(units.seen(clean), positions))
        progress("scoring", 0.0)
        fitted = None
        if train is None and rows == len(series.values):  # then all rows together set the scale
            fitted = compute_residuals(method, units, clean, positions)
        width = default_width(rows) if settings.smooth is None else settings.smooth
        real_times = bool(best.settings.get("real"))
        why = _reasons(test.trials, settings, season, best, source)
        chosen = Chosen(best.method, best.encoding, season, width, real_times, why)
        residual = None if fitted is None else fitted.residual
        blocks = (first_rows, test.held_out)
        calibration = Calibration.of(blocks, residual, units, width, settings.threshold)
        kept = max(method.min_rows, CONTEXT_ROWS) + REHEARSED
        recent = Segment(clean, positions).part(max(0, rows - kept), rows)
        detector = Detector(
            source.names, best, method, units, axis, calibration, chosen, test.trials, recent
        )
        if train is not None:
            return detector.detect(series)
        if fitted is None:
            limit = calibration.limit
            fitted = compute_residuals(method, units, series.values, every_position, limit)
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


def _irregular(source: Series) -> float:
    """Return the share of irregular gaps between rows."""
    return source.summary.irregular or 0.0


def _reasons(
    trials: tuple[Trial, ...],
    settings: Settings,
    season: int | None,
    best: Candidate,
    source: Series,
) -> tuple[str, ...]:
    """Explain the choice of method, encoding, season and positions, in a sentence each."""
    reasons = [_reason_for_method(trials)]
    if best.encoding == ENCODING and settings.encodings == (ENCODING,):
        reasons.append(f"Encoding {WHY}.")
    if season is None:
        reasons.append("No season was found: nothing comes back after a fixed number of rows.")
    elif settings.season:
        reasons.append(f"Season: {season} rows, as given.")
    else:
        found = "found where the series is most like itself again"
        reasons.append(f"Season: {season} rows, {found}.")
    if best.encoding and source.times is not None:
        positions = "their true times" if best.settings.get("real") else "their count"
        share = f"{_irregular(source):.1%} of the gaps are irregular"
        reasons.append(f"Positions are {positions}: {share}.")
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
