"""Evaluate a detection: its scores and events against labels, and the baselines beside it.

Never point-adjusted F1, which counts a whole event as found when one point of it is flagged: random
scores do well by it (Kim et al. 2022, arXiv:2109.05257), so it cannot tell a detector from noise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from locant.anomaly import baselines, metrics
from locant.anomaly.detector import methods
from locant.anomaly.detector.methods.base import TrainingData
from locant.anomaly.detector.residuals import compute_residuals, fit_method, row_maximum
from locant.anomaly.detector.time_grid import Flags, Floats, observed_values
from locant.anomaly.metrics.base import LabeledScores
from locant.anomaly.metrics.smoothing import random_scores, smooth
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.anomaly.metrics.vus_window import vus_window

if TYPE_CHECKING:
    from locant.anomaly.detector.detection import Detection

NOT_ADJUSTED = "No point-adjusted F1: random scores do well by it (arXiv:2109.05257)."


def evaluate(found: Detection) -> dict[str, float]:
    """Compute every metric by name; nothing without labels, or with labels of one kind only."""
    labels = _labels(found)
    if labels is None:
        return {}
    window = vus_window(found.series.values)
    windows = tuple(found.series.windows or ())
    case = LabeledScores(labels, found.scores, found.flags, windows, window)
    out = {metric.label: metric.compute(case) for metric in metrics.table()}
    random = random_scores(len(labels), 0)
    return {**out, "VUS-PR of random scores": vus_pr(labels, random, window=window)}


def evaluate_baselines(found: Detection) -> dict[str, float]:
    """Compute VUS-PR of each baseline that was scored; nothing without labels."""
    labels = _labels(found)
    if labels is None:
        return {}
    window = vus_window(found.series.values)
    return {
        name: vus_pr(labels, scores, window=window)
        for name, scores in found.baseline_scores.items()
    }


def describe_window(found: Detection) -> str:
    """Explain the window of VUS-PR in a sentence."""
    window = vus_window(found.series.values)
    return (
        f"VUS-PR gives part of the credit up to {window // 2} rows from a label "
        f"(window {window}, found as in TSB-AD)."
    )


def baseline_scores(found: Detection) -> dict[str, Floats]:
    """Score the series by every baseline, smoothed as the detection is: (T,) each, by name.

    A baseline that is a detection method too is trained on the series itself.
    """
    names = {baselines.shown(name): name for name in baselines.names()}
    out = {}
    for shown in sorted({*names, *_classical_methods()}):
        if shown in _classical_methods():
            score = _method_score(shown, found)
        else:
            score = _baseline_score(names[shown], found)
        out[shown] = smooth(score[:, None], found.chosen.smooth)[:, 0]
    return out


def _labels(found: Detection) -> Flags | None:
    """Return the labels when they hold both normal and anomalous rows."""
    labels = found.series.labels
    if labels is None or not labels.any() or labels.all():
        return None
    return labels


def _classical_methods() -> list[str]:
    """List the detection methods that take no encoding."""
    return [name for name in methods.names() if not methods.load(name).takes_encoding]


def _baseline_score(name: str, found: Detection) -> Floats:
    """Score the series by a baseline; one that takes a lead learns from the series itself."""
    values = found.detector.units.scaled(found.series.values)
    lead = values[:0] if baselines.lead_of(name) == "none" else values
    return baselines.load(name).score(lead, values)


def _method_score(name: str, found: Detection) -> Floats:
    """Score the series by a classical method that is trained on it."""
    values, detector = observed_values(found.series), found.detector
    axis = replace(detector.time_axis, rows=0)
    positions = axis.positions(found.series.times, len(values))
    data = TrainingData(
        rows=len(values),
        columns=values.shape[1],
        season=found.chosen.season,
        given_season=None,
        irregular=False,
        steps=1,
        seed=0,
    )
    (candidate,) = methods.candidates(name, (), data)
    layout = detector.layout
    method = fit_method(candidate.make(), layout, values, positions)
    residual = compute_residuals(method, layout, values, positions).residual
    return row_maximum(residual / detector.calibration.scale)
