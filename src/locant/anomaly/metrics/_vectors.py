"""Check what a metric is given: vectors of 0 and 1, vectors of numbers, of one length."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]


def row(owner: str, option: str, values: ArrayLike) -> NDArray[np.generic]:
    """Return the values as an array, when they are one row of at least one number."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal lengths
        array = np.empty((0, 0))
    if array.ndim != 1:
        raise ValueError(
            f"{owner} needs {option} as one row of numbers. Got {_shape(array)} instead."
        )
    if len(array) == 0:
        raise ValueError(f"{owner} needs at least one point. Got an empty row of {option} instead.")
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{owner} needs numbers for {option}. Got values of type {array.dtype} instead."
        )
    return array


def flags(owner: str, option: str, values: ArrayLike) -> Flags:
    """Return the values as booleans, when each is 0 or 1.

    >>> flags("auc_roc", "labels", [0, 1, 2])
    Traceback (most recent call last):
    ValueError: auc_roc needs 0 or 1 (False or True) for each of labels. Got 2 at index 2 instead.
    """
    array = row(owner, option, values)
    wrong = np.flatnonzero((array != 0) & (array != 1))
    if len(wrong):
        got = f"{array[wrong[0]]} at index {wrong[0]}"
        raise ValueError(
            f"{owner} needs 0 or 1 (False or True) for each of {option}. Got {got} instead."
        )
    return array.astype(np.bool_)


def numbers(owner: str, option: str, values: ArrayLike) -> Numbers:
    """Return the values as floats, when none is NaN. Infinite ones have a rank and may stay."""
    array = row(owner, option, values).astype(np.float64)
    wrong = np.flatnonzero(np.isnan(array))
    if len(wrong):
        raise ValueError(
            f"{owner} cannot rank NaN, and {len(wrong)} of {len(array)} {option} are NaN, "
            f"the first at index {wrong[0]}.\n"
            f"  Leave these points out of labels and {option} alike, or give them a number."
        )
    return array


def labels_and_scores(owner: str, labels: ArrayLike, scores: ArrayLike) -> tuple[Flags, Numbers]:
    """Return both vectors, when they have one length and at least one point is anomalous."""
    true, values = flags(owner, "labels", labels), numbers(owner, "scores", scores)
    _same_length(owner, len(true), "scores", len(values))
    needs_an_anomaly(owner, true)
    return true, values


def labels_and_flags(owner: str, labels: ArrayLike, predicted: ArrayLike) -> tuple[Flags, Flags]:
    """Return both vectors, when they have one length."""
    true, flagged = flags(owner, "labels", labels), flags(owner, "predicted", predicted)
    _same_length(owner, len(true), "predicted", len(flagged))
    return true, flagged


def needs_an_anomaly(owner: str, true: Flags) -> None:
    """Refuse labels without an anomalous point: there is nothing to find, so no score."""
    if not true.any():
        raise ValueError(
            f"{owner} needs at least one point with label 1. All {len(true)} labels are 0.\n"
            "  Take a series that holds an anomaly; on normal points alone only false alarms "
            "can be counted (confusion)."
        )


def _same_length(owner: str, points: int, option: str, others: int) -> None:
    if points != others:
        raise ValueError(
            f"{owner} needs one of {option} for each label. "
            f"Got {points} labels and {others} {option}."
        )


def _shape(array: NDArray[np.generic]) -> str:
    if array.ndim == 0:
        return "a single value"
    return f"an array of shape {array.shape}" if array.size else "rows of unequal or no length"
