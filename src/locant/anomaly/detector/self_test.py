"""The self-test: which candidate finds known faults best, in held-out rows of the user's data?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.calibration import CONTEXT, HELD_OUT, HeldOutBlock
from locant.anomaly.detector.detection import Trial
from locant.anomaly.detector.injected_faults import FAULTS, inject
from locant.anomaly.detector.methods import Candidate
from locant.anomaly.detector.methods.base import Method, Progress
from locant.anomaly.detector.residuals import compute_residuals, residual_scale
from locant.anomaly.detector.segments import Flags, Floats, Segment
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.smoothing import smooth
from locant.anomaly.series.units import Units

MAX_ROWS = 8_000  # of clean data, the last ones
SUSPECT = 0.01  # share of rows that looked wrong before any fault was injected: they are left out
WIDTH = 2  # smoothing here; the detector's own would melt neighboring faults together


class SelfTest(NamedTuple):
    """The trials, the best first, and the held-out rows without faults, with the best method."""

    trials: tuple[Trial, ...]
    best: Candidate
    held_out: HeldOutBlock


class _Fitted(NamedTuple):
    """A candidate that has learned from the first rows."""

    method: Method
    start: int  # the first row of the context that the held-out rows are scored with
    residual: Floats  # of the held-out rows without faults, (rows, F)
    seconds: float


def self_test(
    candidates: Sequence[Candidate],
    units: Units,
    clean: Floats,
    positions: Floats,
    seed: int,
    progress: Progress,
) -> SelfTest:
    """Try every candidate on clean values (T,F): it learns from the first rows, and faults are
    injected into the rest."""
    clean, positions = clean[-MAX_ROWS:], positions[-MAX_ROWS:]
    split = int((1 - HELD_OUT) * len(clean))
    fitted = [_fit(one, units, clean, positions, split, progress) for one in candidates]
    seconds = [one.seconds for one in fitted]
    trusted = _trusted([one.residual for one in fitted])
    precision: list[dict[str, float]] = [{} for _ in candidates]
    for kind in FAULTS:
        faulty, where = inject(units.scaled(clean[split:]), kind, seed)
        if not (where & trusted).any() or (where | ~trusted).all():
            continue  # a fault that changes nothing here, such as a flat part of a flat series
        for number, (method, start, residual, _) in enumerate(fitted):
            began = time.perf_counter()
            values = np.concatenate([clean[start:split], units.back(faulty)])
            found = compute_residuals(method, units, values, positions[start:])
            scaled = found.residual[split - start :] / residual_scale(residual)
            score = smooth(scaled, WIDTH).max(1)
            precision[number][kind] = average_precision(where[trusted], score[trusted])
            seconds[number] += time.perf_counter() - began
    trials = []
    for candidate, by_kind, took in zip(candidates, precision, seconds, strict=True):
        mean = float(np.mean([*by_kind.values()] or [0.0]))
        trials.append(Trial(candidate.method, candidate.encoding, by_kind, mean, took))
    order = sorted(range(len(trials)), key=lambda number: -trials[number].mean)
    method, start, _, _ = fitted[order[0]]
    rows = (split - start, len(clean) - start)
    held_out = HeldOutBlock(method, clean[start:], positions[start:], *rows)
    return SelfTest(tuple(trials[number] for number in order), candidates[order[0]], held_out)


def _fit(
    candidate: Candidate,
    units: Units,
    clean: Floats,
    positions: Floats,
    split: int,
    progress: Progress,
) -> _Fitted:
    """Fit a candidate to the rows before the split, and score the rest without faults."""
    began = time.perf_counter()
    method = candidate.make(partial(progress, f"self-test: {candidate.name}"))
    method.fit(Segment(units.seen(clean), positions).part(0, split))
    start = max(0, split - max(method.min_rows, CONTEXT))
    found = compute_residuals(method, units, clean[start:], positions[start:])
    residual = found.residual[split - start :]
    return _Fitted(method, start, residual, time.perf_counter() - began)


def _trusted(residuals: list[Floats]) -> Flags:
    """Flag the rows (T,) that looked normal to every candidate before faults were injected."""
    worst = [residual.max(1) for residual in residuals]
    normal = [residual <= np.quantile(residual, 1 - SUSPECT) for residual in worst]
    return np.all(normal, axis=0)
