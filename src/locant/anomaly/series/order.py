"""Rows in the order of time, one row a moment. Nothing is resampled: gaps stay as they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series.raw import Flags, Floats, Raw
from locant.anomaly.series.written import Times

HOUR = 3600 * 10**9


class Rows(NamedTuple):
    """What there is of every row."""

    values: Floats  # (T,F)
    times: NDArray[Any] | None  # (T,)
    labels: Flags | None  # (T,)


def with_time(raw: Raw, times: Times) -> Times:
    """The times that there are; rows without one leave the table."""
    absent = np.isnat(times.values) if times.dated else np.isnan(times.values)
    if not absent.any():
        return times
    raw.said.append(f"{absent.sum():,} of {len(absent):,} rows had no time: left out.")
    raw.columns, raw.places = [cells.filter(~absent) for cells in raw.columns], raw.places[~absent]
    return times._replace(values=times.values[~absent])


def in_order(rows: Rows, said: list[str], *, zoned: bool = False) -> Rows:
    """The rows sorted by their time; those of one moment become one.

    >>> said = []
    >>> in_order(Rows(np.array([[3.0], [1.0], [2.0]]), np.array([2.0, 1.0, 2.0]), None), said).values.tolist()
    [[1.0], [2.5]]
    >>> said[:2]
    ['1 of 3 rows was not in the order of time: the rows were sorted.',
     '1 moment stood in several rows with different values: their mean was taken, of 2 rows.']
    """
    if rows.times is None:
        return rows
    times = rows.times
    back = np.flatnonzero(times[1:] < times[:-1]) + 1
    if not zoned and times.dtype.kind == "M":
        said += _summer_time(times)
    if len(back):
        verb = "was" if len(back) == 1 else "were"
        turned = len(back) == len(times) - 1 > 1
        said.append(
            "The rows ran from new to old: they were turned round."
            if turned
            else f"{len(back):,} of {len(times):,} rows {verb} not in the order of time: the rows were sorted."
        )
        rows = _taken(rows, np.argsort(times, kind="stable"))
    return _merged(rows, said)


def _taken(rows: Rows, which: NDArray[Any]) -> Rows:
    values, times, labels = rows
    return Rows(
        values[which],
        None if times is None else times[which],
        None if labels is None else labels[which],
    )


def _merged(rows: Rows, said: list[str]) -> Rows:
    """One row a moment: of equal rows the first, of different ones the mean; anomalous when one of them is."""
    values, times, labels = rows
    assert times is not None
    starts = (
        np.flatnonzero(np.r_[True, times[1:] != times[:-1]])
        if len(times)
        else np.zeros(0, np.int64)
    )
    if len(starts) == len(times):
        return rows
    counts = np.diff(np.r_[starts, len(times)])
    several = counts > 1
    there = ~np.isnan(values)
    low = np.minimum.reduceat(np.where(there, values, np.inf), starts)  # (moments, F)
    high = np.maximum.reduceat(np.where(there, values, -np.inf), starts)
    present = np.add.reduceat(there.astype(np.int64), starts)
    total = np.add.reduceat(
        np.where(there, values / np.repeat(np.maximum(present, 1), counts, 0), 0.0), starts
    )
    mean = np.where(present == 0, np.nan, np.where(low == high, low, total))
    same = ((low == high) & (present == counts[:, None]) | (present == 0)).all(1)
    if equal := int((counts - 1)[several & same].sum()):
        said.append(
            f"{equal:,} row{'s' if equal > 1 else ''} repeated a moment with equal values: left out."
        )
    if several[~same].any():
        moments, of = int((several & ~same).sum()), int(counts[several & ~same].sum())
        subject = "1 moment stood" if moments == 1 else f"{moments:,} moments stood"
        said.append(
            f"{subject} in several rows with different values: their mean was taken, of {of:,} rows."
        )
        if 2 * of > len(times):
            said.append(
                "If these rows belong to several series, give each a column or a file of its own."
            )
    marked = None if labels is None else np.logical_or.reduceat(labels, starts)
    return Rows(mean, times[starts], marked)


def _summer_time(times: NDArray[Any]) -> list[str]:
    """A sentence where a clock without a zone goes back by one hour, as it does when summer time ends."""
    steps = np.diff(times.astype(np.int64))
    if not (steps > 0).any():
        return []
    usual = int(np.median(steps[steps > 0]))
    back = np.flatnonzero(steps <= 0)
    at_night = (times[back].astype("datetime64[h]").astype(np.int64) % 24) < 4
    days = (times[-1] - times[0]) / np.timedelta64(1, "D")
    fits = (np.abs(usual - steps[back] - HOUR) <= usual) & at_night & (usual <= HOUR)
    if not fits.any() or not fits.all() or len(back) > 1 + days / 180:
        return []
    when = str(times[back[0] + 1].astype("datetime64[m]")).replace("T", " ")
    return [
        f"The clock goes back by an hour at {when}, as at the end of summer time: the two hours are laid over each other. "
        "Write times with a zone (+01:00) to keep both."
    ]
