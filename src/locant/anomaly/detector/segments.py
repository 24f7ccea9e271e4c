"""Rows with their positions in time: the segment that methods read, and the axis that places rows.

A position counts median time steps since the first clean row. Without times, rows are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series import Series

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Segment(NamedTuple):
    """A part of a series in units of its clean part: values (T,F) and their positions (T,)."""

    values: Floats
    positions: Floats

    def part(self, start: int, stop: int) -> Segment:
        """Slice the rows start..stop−1."""
        return Segment(self.values[start:stop], self.positions[start:stop])


@dataclass(frozen=True)
class TimeAxis:
    """The time of the first row and the median step, in seconds or in the times' own unit."""

    start: Any = None  # datetime64[ns] or float; None without times
    step: float = 1.0
    rows: int = 0  # rows that were counted before; only without times

    @classmethod
    def of(cls, series: Series) -> TimeAxis:
        """Read the axis from the times of a series."""
        if series.times is None:
            return cls(rows=len(series.values))
        return cls(series.times[0], series.summary.step or 1.0)

    def positions(self, times: NDArray[Any] | None, rows: int, *, training: bool = False) -> Floats:
        """Compute the positions (T,) of rows with these times.

        training  whether these are the rows that the axis was made from

        >>> axis = TimeAxis(np.datetime64("2014-02-14", "ns"), 3600.0)
        >>> axis.positions(np.array(["2014-02-14T02"], "datetime64[ns]"), 1).tolist()
        [2.0]
        """
        if self.start is None:
            return np.arange(rows, dtype=np.float64) + (0 if training else self.rows)
        self._check_kind(times)
        assert times is not None
        elapsed = times - self.start
        if times.dtype.kind == "M":
            elapsed = elapsed / np.timedelta64(1, "s")
        return elapsed / self.step

    def _check_kind(self, times: NDArray[Any] | None) -> None:
        """Refuse missing times, dates for numbers and numbers for dates."""
        dated = isinstance(self.start, np.datetime64)
        if times is not None and (times.dtype.kind == "M") == dated:
            return
        kind = "dates" if dated else "plain numbers"
        got = "none" if times is None else f"times of type {times.dtype}"
        raise ValueError(
            f"this detector learned from rows with times ({kind}); here are {got}.\n"
            "  Name the time column: --time."
        )
