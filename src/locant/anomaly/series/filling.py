"""Missing values: a straight line between the neighbours, the nearest value at the edges, and a count of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series.raw import Floats


def filled(
    values: Floats, times: NDArray[Any] | None, names: Sequence[str], said: list[str]
) -> Floats:
    """The values (T,F) without gaps; a line is straight in time where there is one, else in rows.

    >>> said = []
    >>> filled(np.array([[np.nan], [1.0], [np.nan], [4.0]]), np.array([0.0, 1.0, 2.0, 4.0]), ["load"], said).ravel().tolist()
    [1.0, 1.0, 2.0, 4.0]
    >>> said
    ['load: 2 of 4 values were missing: 1 interpolated, 1 held at the edges.']
    """
    if not np.isnan(values).any():
        return values
    at = np.arange(len(values), dtype=np.float64) if times is None else since_start(times)
    whole = values.copy()
    for column, name in enumerate(names):
        absent = np.isnan(values[:, column])
        if not absent.any():
            continue
        there = np.flatnonzero(~absent)
        half = (
            0.5 * values[there, column]
        )  # two numbers near the end of float64 are too far apart for it
        whole[absent, column] = 2 * np.interp(at[absent], at[there], half)
        inside = int(absent[there[0] : there[-1]].sum())
        parts = [(inside, "interpolated"), (int(absent.sum()) - inside, "held at the edges")]
        did = ", ".join(f"{count:,} {what}" for count, what in parts if count)
        verb = "was" if absent.sum() == 1 else "were"
        said.append(f"{name}: {absent.sum():,} of {len(absent):,} values {verb} missing: {did}.")
    return whole


def since_start(times: NDArray[Any]) -> Floats:
    """Seconds (or the numbers' own unit) since the first time, exact to the nanosecond in the difference.

    >>> since_start(np.array(["2014-02-14T00:00", "2014-02-14T00:05"], "datetime64[ns]")).tolist()
    [0.0, 300.0]
    """
    gone = times - times[:1]
    return gone / np.timedelta64(1, "s") if times.dtype.kind == "M" else gone.astype(np.float64)
