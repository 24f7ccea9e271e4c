"""Where rows are, in usual steps since the first clean one: by their times, or by their count where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.detector.method import Floats
from locant.anomaly.series import Series


@dataclass(frozen=True)
class Clock:
    """The moment of the first row and the usual step, in seconds or in the times' own unit; None without times."""

    start: Any = None  # datetime64[ns] or float
    step: float = 1.0
    rows: int = 0  # that were counted before; only without times

    @classmethod
    def of(cls, series: Series) -> Clock:
        if series.times is None:
            return cls(rows=len(series.values))
        return cls(series.times[0], series.summary.step or 1.0)

    def at(self, times: NDArray[Any] | None, rows: int, *, again: bool = False) -> Floats:
        """Places of rows with these times, (T,). `again` for the rows that the clock was made from.

        >>> Clock(np.datetime64("2014-02-14", "ns"), 3600.0).at(np.array(["2014-02-14T02"], "datetime64[ns]"), 1).tolist()
        [2.0]
        """
        if self.start is None:
            return np.arange(rows, dtype=np.float64) + (0 if again else self.rows)
        if times is None or (times.dtype.kind == "M") != isinstance(self.start, np.datetime64):
            kind = "dates" if isinstance(self.start, np.datetime64) else "plain numbers"
            got = "none" if times is None else f"times of type {times.dtype}"
            raise ValueError(
                f"this detector learnt from rows with times ({kind}); here are {got}. Name them: --time."
            )
        gone = times - self.start
        return (gone / np.timedelta64(1, "s") if times.dtype.kind == "M" else gone) / self.step
