"""Where scores begin to count: from clean data, from a rate of false alarms, or as given; and what it is worth.

The rate of false alarms that is told is measured. It is the share of held-out rows above the threshold, and every
held-out row counts. Where the threshold itself is set from held-out rows, each fifth of them is counted against the
threshold that the other four fifths give.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from locant._internal.checks import positive
from locant.anomaly.detector.detection import Threshold
from locant.anomaly.detector.method import Floats

MOST = 0.1  # of the points are above the edge, however heavy the tail
PIECES = 5  # of the held-out rows, each counted against a threshold from the others
APART = math.sqrt(
    4 * math.pi
)  # smoothed scores this many widths apart are as good as independent: ∫ exp(−t²/4) dt
FEWEST = 10  # independent scores, below which no rate is told


class CleanScores(NamedTuple):
    """Smoothed scores of the rows that were learnt from.

    held_out  of rows that the method judging them had not learnt from, block after block
    fitted    of all rows, judged by the method that learnt from them, which may hold anomalies;
              None where the user says that all rows are clean
    """

    held_out: Floats
    fitted: Floats | None


def read_threshold(asked: str | float) -> tuple[str, float]:
    """What was asked for: ("clean", 0), ("rate", share) or ("value", number).

    >>> read_threshold("clean"), read_threshold("0.5%"), read_threshold(3)
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
            f"a threshold is clean (from clean data), a rate of false alarms such as 0.5%, or a score such as 4. Got {text!r}."
        )
    return "rate", number / 100


def set_threshold(asked: str | float, clean: CleanScores, width: int) -> Threshold:
    """Set the threshold from clean scores smoothed over a width, and measure its rate of false alarms.

    Rows that may hold anomalies lose their highest scores before a rate is set on them, never before it is measured.
    """
    kind, number = read_threshold(asked)
    scores = clean.held_out if clean.fitted is None else clean.fitted
    far = largest(len(scores) / max(width, 1))

    def value(some: Floats) -> float:
        if kind == "value":
            return number
        if kind == "clean":
            return edge(some, far)
        believed = some if clean.fitted is None else some[some <= edge(some, far)]
        return float(np.quantile(believed, 1 - number))

    origins = {
        "clean": "the edge of the clean scores",
        "rate": "from the rate that was asked for",
        "value": "given",
    }
    independent = int(len(clean.held_out) / max(APART * width, 1))
    return Threshold(
        value(scores),
        origins[kind],
        _measured(value, clean) if independent >= FEWEST else None,
        asked=number if kind == "rate" else None,
        rows=len(clean.held_out),
        independent=independent,
        known_clean=clean.fitted is None,
    )


def largest(count: float) -> float:
    """About the largest of so many normal values, in standard deviations: √(2·ln count).

    >>> round(largest(80), 2), round(largest(100_000), 2)
    (2.96, 4.8)
    """
    return math.sqrt(2 * math.log(max(count, 10)))


def edge(scores: Floats, far: float) -> float:
    """The largest score that still belongs to the many, `far` robust standard deviations above their median.

    >>> edge(np.array([1.0, 1.0, 1.1, 1.2, 1.2, 1.3, 1.4, 900.0]), 3.0) < 10  # anomalies hardly move it
    True
    """
    middle, upper, top = np.quantile(scores, [0.5, 0.75, 1 - MOST], method="lower")
    return float(max(middle + far * (upper - middle) / 0.6745, top))


def _measured(value: Callable[[Floats], float], clean: CleanScores) -> float:
    """The share of all held-out scores above a threshold that was set without them."""
    if clean.fitted is not None:
        return float((clean.held_out > value(clean.fitted)).mean())
    piece = np.arange(len(clean.held_out)) * PIECES // len(clean.held_out)
    above = [
        clean.held_out[piece == one] > value(clean.held_out[piece != one]) for one in range(PIECES)
    ]
    return float(np.concatenate(above).mean())
