"""The plain methods beside a detector, on the same series and at the same smoothing: what a detector must be held against."""

from __future__ import annotations

from dataclasses import replace

from locant.anomaly.baselines import load, shown
from locant.anomaly.detector.candidates import METHODS, candidates
from locant.anomaly.detector.detection import Detection
from locant.anomaly.detector.method import Floats, Stretch
from locant.anomaly.detector.scoring import judge
from locant.anomaly.metrics.smoothing import smooth

LOCAL = ("rolling_median", "second_difference")  # they need no lead


def baseline_scores(found: Detection) -> dict[str, Floats]:
    """The scores (T,) of each plain method; those that learn have learnt from the series itself."""
    values, detector = found.series.values, found.detector
    units, width = detector.units, found.chosen.smooth
    at = replace(detector.clock, rows=0).at(found.series.times, len(values))
    scaled = units.scaled(values)
    out = {shown(name): load(name).score(scaled[:0], scaled) for name in LOCAL}
    for method in METHODS[1:]:
        (one,) = candidates(
            method, (), length=len(values), columns=values.shape[1], season=found.chosen.season, known=None, real={},
            steps=1, seed=0,
        )  # fmt: skip
        made = one.make()
        made.fit(Stretch(units.seen(values), at))
        away = judge(made, units, values, at).away
        out[method] = (away / detector.calibration.usual).max(1)
    return {name: smooth(score[:, None], width)[:, 0] for name, score in sorted(out.items())}
