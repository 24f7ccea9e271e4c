"""What a property found of a model: a verdict, a number for a table, and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from locant.certification.certificate import FAILS, HOLDS, MARKS, NOT_JUDGED, SEEN
from locant.certification.probe import show

BY_NATURE, DOES_NOT_APPLY = "by nature", "does not apply"
MODEL_MARKS = MARKS | {BY_NATURE: "~", DOES_NOT_APPLY: "–"}
BOUND = 2e-3  # the largest difference between two float32 passes, as a share of the outputs' size
WHY = "float32 sums in another order differ by 1e-5 of the outputs' size, a wrong position by 1e-1"


@dataclass(frozen=True)
class ModelResult:
    """What one property found.

    verdict  holds, fails, by nature, does not apply, seen or not judged
    value    the number for a table, a few characters
    message  a sentence with the numbers
    """

    verdict: str
    value: str
    message: str
    numbers: dict[str, Any] = field(default_factory=dict)


def judge_errors(
    errors: dict[str, float], *, nature: str = "", bound: float = BOUND, what: str = "Outputs"
) -> ModelResult:
    """Judge differences against a bound.

    errors  a difference, as a share of the outputs' size, by the case it was measured in
    nature  why a difference is no fault in this model; empty where it is one

    >>> judge_errors({"beside a longer row": 0.5}).message
    'Outputs differ by 0.5 of their size, beside a longer row.'
    """
    errors = {case: error if error == error else float("inf") for case, error in errors.items()}
    worst = max(errors, key=errors.__getitem__)
    error = errors[worst]
    numbers: dict[str, Any] = dict(errors)
    if error <= bound:
        message = f"{what} differ by at most {show(error)} of their size."
        return ModelResult(HOLDS, show(error), message, numbers)
    message = f"{what} differ by {show(error)} of their size, {worst}."
    if nature:
        return ModelResult(BY_NATURE, show(error), f"{message} {nature}", numbers)
    return ModelResult(FAILS, show(error), message, numbers)


def does_not_apply(why: str) -> ModelResult:
    """Return that a property has nothing to say about a model, and why."""
    return ModelResult(DOES_NOT_APPLY, "–", why)


def by_nature(value: str, why: str) -> ModelResult:
    """Return that a property does not hold because of what the model is."""
    return ModelResult(BY_NATURE, value, why)


def not_judged(why: str, value: str = "–") -> ModelResult:
    """Return that a property was not measured, or that its measurement says nothing."""
    return ModelResult(NOT_JUDGED, value, why)


def seen(value: str, message: str) -> ModelResult:
    """Return a measurement that nobody is held to."""
    return ModelResult(SEEN, value, message)
