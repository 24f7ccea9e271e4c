"""A series as it was read: numbers without gaps, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series.filling import since_start
from locant.anomaly.series.raw import Flags, Floats

NEAR = 0.1  # a gap within this share of the usual step is regular: months of 28 and of 31 days are


@dataclass(frozen=True)
class Understood:
    """What was understood of a file: the facts of the short table."""

    file: str
    kind: str  # "CSV", "Parquet", …
    rows: int  # as used: sorted, repeated moments merged
    columns: int
    time: str | None  # "timestamp (ISO 8601)"
    start: Any = None  # datetime64[ns] or float
    end: Any = None
    step: float | None = None  # the usual (median) one, in seconds or in the numbers' own unit
    irregular: float | None = None  # share of steps that are not near the usual one
    missing: int = 0  # values that were filled


@dataclass(frozen=True, eq=False)
class Series:
    """One or many columns of numbers in the order of time."""

    values: Floats  # (T,F), all finite
    names: tuple[str, ...]  # (F,)
    times: (
        NDArray[Any] | None
    )  # (T,) datetime64[ns] (UTC where a zone is known) or float64, rising; None without a time
    labels: Flags | None  # (T,) True where anomalous
    windows: (
        tuple[tuple[int, int], ...] | None
    )  # the anomalous stretches as half-open intervals of rows
    understood: Understood
    repairs: list[str]  # every change that was made to what the file says, as sentences


def gaps(times: NDArray[Any]) -> tuple[float, float]:
    """The usual step, and the share of steps that differ from it by more than a tenth.

    >>> gaps(np.array([0.0, 1.0, 2.0, 3.0, 7.0]))
    (1.0, 0.25)
    """
    steps = np.diff(since_start(times))
    usual = float(np.median(steps))
    return usual, float((np.abs(steps - usual) > NEAR * usual).mean())
