"""Where scores begin to count: from clean data, from a rate of false alarms, or as given; and what it is worth.

A nominal rate is a promise about data that were looked at. What is told is measured: the threshold is set on every
second block of the clean scores and false alarms are counted on the others, both ways round.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from locant.detection.detection import Threshold
from locant.detection.method import Floats
from locant.errors import positive

MOST = 0.1  # of the points are above the edge, however heavy the tail
BLOCKS = 20


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


def set_threshold(asked: str | float, scores: Floats, width: int) -> Threshold:
    """The threshold for scores like these, (T,), smoothed over a width, most of which are clean."""
    kind, number = read_threshold(asked)
    far = largest(len(scores) / max(width, 1))
    clean = scores[scores <= edge(scores, far)]
    rules: dict[str, tuple[Callable[[Floats], float], str]] = {
        "clean": (lambda some: edge(some, far), "the edge of the clean scores"),
        "rate": (lambda some: float(np.quantile(some, 1 - number)), f"{number:.3g} of clean points, nominally"),
        "value": (lambda _: number, "given"),
    }
    rule, origin = rules[kind]
    return Threshold(rule(scores if kind == "clean" else clean), origin, _measured(rule, clean))


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


def _measured(rule: Callable[[Floats], float], clean: Floats) -> float | None:
    """The share of clean scores above a threshold that was set on others, which are in other blocks."""
    if len(clean) < 2 * BLOCKS:
        return None
    even = np.arange(len(clean)) * BLOCKS // len(clean) % 2 == 0
    return float(np.mean([(clean[judged] > rule(clean[~judged])).mean() for judged in (even, ~even)]))
