"""The threshold above which scores count as events, and its measured rate of false alarms.

A threshold is set from clean scores, from a rate of false alarms, or given as a number. The rate
that is reported is measured: it is the share of held-out rows above the threshold, and every
held-out row counts. Where the threshold itself is set from held-out rows, each fifth of them is
counted against the threshold that the other four fifths give.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from locant._internal.checks import positive
from locant.anomaly.detector.segments import Floats

MAX_ABOVE = 0.1  # share of the scores that may lie above the edge, however heavy the tail
FOLDS = 5  # of the held-out rows, each counted against a threshold from the others
# Smoothed scores this many widths apart are as good as independent: ∫ exp(−t²/4) dt.
INDEPENDENT_WIDTHS = math.sqrt(4 * math.pi)
MIN_INDEPENDENT = 10  # independent scores, below which no rate is measured
ORIGINS = {
    "clean": "the edge of the clean scores",
    "rate": "from the rate that was asked for",
    "value": "given",
}


@dataclass(frozen=True)
class Threshold:
    """A threshold, its origin, and the share of clean rows above it."""

    value: float
    origin: str
    measured: float | None  # the share of held-out rows above it; None when they are too few
    asked: float | None  # the rate of false alarms that was asked for, if one was
    rows: int  # held-out rows, on which false alarms were counted
    independent: int  # about so many independent scores they have after smoothing
    known_clean: bool  # whether the user said that all these rows are clean

    @property
    def sentence(self) -> str:
        """Describe the threshold: what was asked for, what was measured, on how many rows.

        >>> asked = "from the rate that was asked for"
        >>> Threshold(3.2, asked, 0.026, 0.005, 9800, 9800, True).sentence
        'Threshold: 3.2. False alarms: asked 0.5 %, measured 2.6 % on 9,800 held-out rows.'
        >>> print(Threshold(4.0, "given", None, None, 60, 5, True).sentence)
        Threshold: 4 (given). False alarms: not measured, 60 held-out rows are too few at this
        smoothing.
        """
        origin = f" ({self.origin})" if self.asked is None else ""
        asked = "" if self.asked is None else f"asked {_percent(self.asked)}, "
        text = f"Threshold: {self.value:.3g}{origin}. False alarms: {asked}"
        if self.measured is None:
            return f"{text}not measured, {self.rows:,} held-out rows are too few at this smoothing."
        text += f"measured {_percent(self.measured)} on {self.rows:,} held-out rows."
        if min(self.measured, self.asked or 1.0) < 1 / self.independent:
            text += (
                f" Smoothing leaves about {self.independent} independent scores: "
                "too few for so small a rate."
            )
        if not self.known_clean:
            text += " Anomalies among these rows count as false alarms."
        return text


class CleanScores(NamedTuple):
    """Smoothed scores of the rows that were learned from.

    held_out  scores of rows that the method had not learned from, block after block
    fitted    scores of all rows by the method that learned from them, which may hold anomalies;
              None where the user says that all rows are clean
    """

    held_out: Floats
    fitted: Floats | None


def parse_threshold(asked: str | float) -> tuple[str, float]:
    """Parse a threshold into ("clean", 0), ("rate", share) or ("value", number).

    >>> parse_threshold("clean"), parse_threshold("0.5%"), parse_threshold(3)
    (('clean', 0.0), ('rate', 0.005), ('value', 3.0))
    """
    text = str(asked).strip()
    if text == "clean":
        return "clean", 0.0
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not text.endswith("%") and number > 0:
        return "value", positive("detect", "threshold", number)
    if not 0 < number < 50:
        raise ValueError(
            "a threshold is clean (the edge of the clean scores), a rate of false alarms such as "
            f"0.5%, or a score such as 4. Got {text!r}."
        )
    return "rate", number / 100


def set_threshold(asked: str | float, clean: CleanScores, width: int) -> Threshold:
    """Set a threshold from clean scores smoothed over a width; measure its rate of false alarms.

    Rows that may hold anomalies lose their highest scores before a rate is set on them, never
    before it is measured.
    """
    kind, number = parse_threshold(asked)
    scores = clean.held_out if clean.fitted is None else clean.fitted
    deviations = expected_maximum(len(scores) / max(width, 1))

    def value(some: Floats) -> float:
        if kind == "value":
            return number
        if kind == "clean":
            return edge(some, deviations)
        normal = some if clean.fitted is None else some[some <= edge(some, deviations)]
        return float(np.quantile(normal, 1 - number))

    independent = int(len(clean.held_out) / max(INDEPENDENT_WIDTHS * width, 1))
    return Threshold(
        value(scores),
        ORIGINS[kind],
        _false_alarm_rate(value, clean) if independent >= MIN_INDEPENDENT else None,
        asked=number if kind == "rate" else None,
        rows=len(clean.held_out),
        independent=independent,
        known_clean=clean.fitted is None,
    )


def expected_maximum(count: float) -> float:
    """Estimate the largest of `count` normal values, in standard deviations: √(2·ln count).

    >>> round(expected_maximum(80), 2), round(expected_maximum(100_000), 2)
    (2.96, 4.8)
    """
    return math.sqrt(2 * math.log(max(count, 10)))


def edge(scores: Floats, deviations: float) -> float:
    """Return the median of the scores plus so many robust standard deviations.

    >>> scores = np.array([1.0, 1.0, 1.1, 1.2, 1.2, 1.3, 1.4, 900.0])
    >>> edge(scores, 3.0) < 10  # anomalies hardly move it
    True
    """
    middle, upper, top = np.quantile(scores, [0.5, 0.75, 1 - MAX_ABOVE], method="lower")
    return float(max(middle + deviations * (upper - middle) / 0.6745, top))


def _false_alarm_rate(value: Callable[[Floats], float], clean: CleanScores) -> float:
    """Measure the share of all held-out scores above a threshold that was set without them."""
    if clean.fitted is not None:
        return float((clean.held_out > value(clean.fitted)).mean())
    fold = np.arange(len(clean.held_out)) * FOLDS // len(clean.held_out)
    above = []
    for one in range(FOLDS):
        above.append(clean.held_out[fold == one] > value(clean.held_out[fold != one]))
    return float(np.concatenate(above).mean())


def _percent(share: float) -> str:
    """Format a share as a percentage.

    >>> _percent(0.005), _percent(0.0), _percent(0.12345)
    ('0.5 %', '0 %', '12 %')
    """
    return f"{100 * share:.2g} %"
