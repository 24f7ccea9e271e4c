"""The self-test: which candidate finds known faults best, in held-out rows of the user's data?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.calibration import CONTEXT, HELD_OUT, Calibration, HeldOutBlock
from locant.anomaly.detector.detection import Trial
from locant.anomaly.detector.event_finder import anomalous_rows
from locant.anomaly.detector.injected_faults import FAULTS, inject
from locant.anomaly.detector.methods import Candidate
from locant.anomaly.detector.methods.base import Method, Progress
from locant.anomaly.detector.residuals import (
    compute_residuals,
    fit_method,
    residual_scale,
    row_maximum,
    smooth_observed,
)
from locant.anomaly.detector.time_grid import Flags, Floats, Layout
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.events import events

MAX_ROWS = 8_000  # of clean data, the last ones
SUSPECT = 0.01  # share of rows that looked wrong before any fault was injected: they are left out
WIDTH = 2  # smoothing here; the detector's own would melt neighboring faults together


class FaultyRows(NamedTuple):
    """Held-out rows with faults of one kind, as the best method predicts them."""

    residual: Floats  # (rows, F)
    where: Flags  # (rows,) the faults


class SelfTest(NamedTuple):
    """The trials, the best first, and the held-out rows without and with faults."""

    trials: tuple[Trial, ...]
    best: Candidate
    held_out: HeldOutBlock  # by the best method, without faults
    faulty: dict[str, FaultyRows]  # by kind of fault


class _Fitted(NamedTuple):
    """A candidate that has learned from the first rows."""

    method: Method
    start: int  # the first row of the context that the held-out rows are scored with
    residual: Floats  # of the held-out rows without faults, (rows, F)
    seconds: float


def self_test(
    candidates: Sequence[Candidate],
    layout: Layout,
    clean: Floats,
    positions: Floats,
    seed: int,
    progress: Progress,
) -> SelfTest:
    """Try every candidate on clean values (T,F): it learns from the first rows, and faults are
    injected into the rest."""
    clean, positions = clean[-MAX_ROWS:], positions[-MAX_ROWS:]
    split = int((1 - HELD_OUT) * len(clean))
    fitted = [_fit(one, layout, clean, positions, split, progress) for one in candidates]
    seconds = [one.seconds for one in fitted]
    trusted = _trusted([one.residual for one in fitted])
    precision: list[dict[str, float]] = [{} for _ in candidates]
    faulty_rows: list[dict[str, FaultyRows]] = [{} for _ in candidates]
    for kind in FAULTS:
        faulty, where = inject(layout.units.scaled(clean[split:]), kind, seed)
        if not (where & trusted).any() or (where | ~trusted).all():
            continue  # a fault that changes nothing here, such as a flat part of a flat series
        for number, (method, start, residual, _) in enumerate(fitted):
            began = time.perf_counter()
            values = np.concatenate([clean[start:split], layout.units.back(faulty)])
            found = compute_residuals(method, layout, values, positions[start:])
            held_out = found.residual[split - start :]
            faulty_rows[number][kind] = FaultyRows(held_out, where)
            scaled = held_out / residual_scale(residual)
            score = smooth_observed(scaled, WIDTH).max(1)
            precision[number][kind] = average_precision(where[trusted], score[trusted])
            seconds[number] += time.perf_counter() - began
    trials = []
    for candidate, by_kind, took in zip(candidates, precision, seconds, strict=True):
        mean = float(np.mean([*by_kind.values()] or [0.0]))
        trials.append(Trial(candidate.method, candidate.encoding, by_kind, mean, took))
    order = sorted(range(len(trials)), key=lambda number: -trials[number].mean)
    method, start, _, _ = fitted[order[0]]
    rows = (split - start, len(clean) - start)
    block = HeldOutBlock(method, clean[start:], positions[start:], *rows)
    ranked = tuple(trials[number] for number in order)
    return SelfTest(ranked, candidates[order[0]], block, faulty_rows[order[0]])


def _fit(
    candidate: Candidate,
    layout: Layout,
    clean: Floats,
    positions: Floats,
    split: int,
    progress: Progress,
) -> _Fitted:
    """Fit a candidate to the rows before the split, and score the rest without faults."""
    began = time.perf_counter()
    method = candidate.make(partial(progress, f"self-test: {candidate.name}"))
    fit_method(method, layout, clean[:split], positions[:split])
    start = max(0, split - max(method.min_rows, CONTEXT))
    found = compute_residuals(method, layout, clean[start:], positions[start:])
    residual = found.residual[split - start :]
    return _Fitted(method, start, residual, time.perf_counter() - began)


def _trusted(residuals: list[Floats]) -> Flags:
    """Flag the rows (T,) that looked normal to every candidate before faults were injected."""
    worst = [row_maximum(residual) for residual in residuals]
    normal = [residual <= np.quantile(residual, 1 - SUSPECT) for residual in worst]
    return np.all(normal, axis=0)


def count_found(faulty: dict[str, FaultyRows], calibration: Calibration) -> dict[str, str]:
    """Count the faults of each kind that detection finds, as "found of all".

    The smoothing and the thresholds are those that detection uses.
    """
    out = {}
    for kind, (residual, where) in faulty.items():
        inside = anomalous_rows(residual / calibration.scale, calibration.threshold)
        faults = events(where)
        hits = sum(bool(inside[start:stop].any()) for start, stop in faults)
        out[kind] = f"{hits} of {len(faults)}"
    return out
