"""The self-test: which candidate finds known faults best, in a held-out part of the user's own clean data?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.candidates import Candidate
from locant.anomaly.detector.detection import Trial
from locant.anomaly.detector.faults import KINDS, inject
from locant.anomaly.detector.held_out import CONTEXT, HELD_OUT, Block
from locant.anomaly.detector.method import Flags, Floats, Stretch
from locant.anomaly.detector.progress import Tell
from locant.anomaly.detector.scoring import Judged, judge, usual
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.smoothing import smooth
from locant.lab.tasks._units import Units

MOST = 8_000  # rows of clean data that the self-test takes, the last ones
SUSPECT = (
    0.01  # the share of points that looked wrong before any fault was put in: they judge nobody
)
WIDTH = 2  # smoothing of the deviations here; the detector's own would melt neighbouring faults together


class Outcome(NamedTuple):
    """The trials, the best first, and the held-out part as it is, with the best method."""

    trials: tuple[Trial, ...]
    best: Candidate
    held_out: Block


def self_test(
    candidates: Sequence[Candidate], units: Units, clean: Floats, at: Floats, seed: int, tell: Tell
) -> Outcome:
    """Try every candidate on the clean values (T,F) at their places (T,): it learns from the first rows, and faults are
    put into the rest."""
    clean, at = clean[-MOST:], at[-MOST:]
    split = int((1 - HELD_OUT) * len(clean))
    fitted, bases, seconds = [], [], []
    for candidate in candidates:
        began = time.perf_counter()
        method = candidate.make(partial(tell, f"self-test: {candidate.name}"))
        method.fit(Stretch(units.seen(clean), at).part(0, split))
        start = max(0, split - max(method.least, CONTEXT))  # what stands before is context
        whole = judge(method, units, clean[start:], at[start:])
        fitted.append((method, start))
        bases.append(Judged(*(part[split - start :] for part in whole)))
        seconds.append(time.perf_counter() - began)
    sure = _sure([base.away for base in bases])
    found: list[dict[str, float]] = [{} for _ in candidates]
    for kind in KINDS:
        faulty, where = inject(units.scaled(clean[split:]), kind, seed)
        if not (where & sure).any() or (where | ~sure).all():
            continue  # a fault that changes nothing here, such as a flat stretch of a flat series
        for number, (method, start) in enumerate(fitted):
            began = time.perf_counter()
            values = np.concatenate([clean[start:split], units.back(faulty)])
            away = judge(method, units, values, at[start:]).away[split - start :]
            score = smooth(away / usual(bases[number].away), WIDTH).max(1)
            found[number][kind] = average_precision(where[sure], score[sure])
            seconds[number] += time.perf_counter() - began
    trials = [
        Trial(one.method, one.encoding, by_kind, float(np.mean([*by_kind.values()] or [0.0])), took)
        for one, by_kind, took in zip(candidates, found, seconds, strict=True)
    ]
    order = sorted(range(len(trials)), key=lambda number: -trials[number].mean)
    method, start = fitted[order[0]]
    held_out = Block(method, clean[start:], at[start:], split - start, len(clean) - start)
    return Outcome(tuple(trials[number] for number in order), candidates[order[0]], held_out)


def _sure(aways: list[Floats]) -> Flags:
    """Points that no candidate found odd before faults were put in, (T,)."""
    worst = [away.max(1) for away in aways]
    return np.all([away <= np.quantile(away, 1 - SUSPECT) for away in worst], axis=0)
