"""Repair rows: sort them by time, merge repeated timestamps, fill missing values, note each repair.

Nothing is resampled: gaps in time stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series.raw_table import Flags, Floats, RawTable
from locant.anomaly.series.time_column import Times

HOUR = 3600 * 10**9  # nanoseconds


class Rows(NamedTuple):
    """The values, times and labels of the rows."""

    values: Floats  # (T,F)
    times: NDArray[Any] | None  # (T,)
    labels: Flags | None  # (T,)


def drop_untimed(table: RawTable, times: Times) -> Times:
    """Drop the rows that have no time from the table, and return the other times."""
    missing = np.isnat(times.values) if times.dated else np.isnan(times.values)
    if not missing.any():
        return times
    table.notes.append(f"{missing.sum():,} of {len(missing):,} rows had no time: left out.")
    table.columns = [cells.filter(~missing) for cells in table.columns]
    table.lines = table.lines[~missing]
    return times._replace(values=times.values[~missing])


def sort_by_time(rows: Rows, notes: list[str], *, zoned: bool = False) -> Rows:
    """Sort the rows by time, and merge the rows of one timestamp.

    >>> notes = []
    >>> rows = Rows(np.array([[3.0], [1.0], [2.0]]), np.array([2.0, 1.0, 2.0]), None)
    >>> sort_by_time(rows, notes).values.tolist()
    [[1.0], [2.5]]
    >>> notes[:2]
    ['1 of 3 rows was out of order: the rows were sorted by time.',
     '1 timestamp occurred in several rows with different values: the mean was taken, of 2 rows.']
    """
    if rows.times is None:
        return rows
    times = rows.times
    back = np.flatnonzero(times[1:] < times[:-1]) + 1
    if not zoned and times.dtype.kind == "M":
        _note_end_of_summer_time(times, notes)
    if len(back):
        verb = "was" if len(back) == 1 else "were"
        if len(back) == len(times) - 1 > 1:
            notes.append("The rows ran from newest to oldest: their order was reversed.")
        else:
            notes.append(
                f"{len(back):,} of {len(times):,} rows {verb} out of order: "
                "the rows were sorted by time."
            )
        rows = _take(rows, np.argsort(times, kind="stable"))
    return _merge_repeated(rows, notes)


def fill_missing(
    values: Floats, times: NDArray[Any] | None, names: Sequence[str], notes: list[str]
) -> Floats:
    """Fill missing values (T,F): linearly between neighbors, with the nearest value at the edges.

    Interpolation is linear in time where there are times, otherwise in rows.

    >>> notes = []
    >>> values = np.array([[np.nan], [1.0], [np.nan], [4.0]])
    >>> fill_missing(values, np.array([0.0, 1.0, 2.0, 4.0]), ["load"], notes).ravel().tolist()
    [1.0, 1.0, 2.0, 4.0]
    >>> notes
    ['load: 2 of 4 values were missing: 1 interpolated, 1 held at the edges.']
    """
    if not np.isnan(values).any():
        return values
    at = np.arange(len(values), dtype=np.float64) if times is None else since_start(times)
    filled = values.copy()
    for column, name in enumerate(names):
        missing = np.isnan(values[:, column])
        if not missing.any():
            continue
        present = np.flatnonzero(~missing)
        half = 0.5 * values[present, column]  # the largest numbers are too far apart for float64
        filled[missing, column] = 2 * np.interp(at[missing], at[present], half)
        count = int(missing.sum())
        inside = int(missing[present[0] : present[-1]].sum())
        actions = [(inside, "interpolated"), (count - inside, "held at the edges")]
        done = ", ".join(f"{number:,} {action}" for number, action in actions if number)
        verb = "was" if count == 1 else "were"
        notes.append(f"{name}: {count:,} of {len(missing):,} values {verb} missing: {done}.")
    return filled


def since_start(times: NDArray[Any]) -> Floats:
    """Return the seconds since the first time, or the difference of plain numbers.

    >>> since_start(np.array(["2014-02-14T00:00", "2014-02-14T00:05"], "datetime64[ns]")).tolist()
    [0.0, 300.0]
    """
    return since(times, times[0]) if len(times) else np.zeros(0)


def since(times: NDArray[Any], start: Any) -> Floats:
    """Return the seconds from `start` to rising times, or the difference of plain numbers.

    Spans of more than 292 years overflow nanoseconds, and are computed in microseconds.
    """
    if times.dtype.kind != "M":
        return (times - start).astype(np.float64)
    if len(times) and int(times[-1].astype(np.int64)) - int(start.astype(np.int64)) >= 2**63:
        times, start = times.astype("datetime64[us]"), start.astype("datetime64[us]")
    return (times - start) / np.timedelta64(1, "s")


def _take(rows: Rows, order: NDArray[Any]) -> Rows:
    values, times, labels = rows
    return Rows(
        values[order],
        None if times is None else times[order],
        None if labels is None else labels[order],
    )


def _merge_repeated(rows: Rows, notes: list[str]) -> Rows:
    """Merge the rows of one timestamp: the first of equal rows, the mean of different ones.

    A merged row is anomalous when one of its rows is.
    """
    values, times, labels = rows
    assert times is not None
    starts = np.zeros(0, np.int64)
    if len(times):
        starts = np.flatnonzero(np.r_[True, times[1:] != times[:-1]])
    if len(starts) == len(times):
        return rows
    counts = np.diff(np.r_[starts, len(times)])
    present = ~np.isnan(values)
    low = np.minimum.reduceat(np.where(present, values, np.inf), starts)  # (timestamps, F)
    high = np.maximum.reduceat(np.where(present, values, -np.inf), starts)
    numbers = np.add.reduceat(present.astype(np.int64), starts)
    shares = values / np.repeat(np.maximum(numbers, 1), counts, 0)
    mean = np.add.reduceat(np.where(present, shares, 0.0), starts)
    mean = np.where(numbers == 0, np.nan, np.where(low == high, low, mean))
    same = ((low == high) & (numbers == counts[:, None]) | (numbers == 0)).all(1)
    _note_repeated(counts, same, notes)
    merged = None if labels is None else np.logical_or.reduceat(labels, starts)
    return Rows(mean, times[starts], merged)


def _note_repeated(counts: NDArray[np.int64], same: Flags, notes: list[str]) -> None:
    """Note how many rows each timestamp had, and whether their values were the same."""
    several = counts > 1
    equal = int((counts - 1)[several & same].sum())
    if equal:
        plural = "s" if equal > 1 else ""
        notes.append(f"{equal:,} row{plural} repeated a timestamp with equal values: left out.")
    different = several & ~same
    if not different.any():
        return
    timestamps, rows = int(different.sum()), int(counts[different].sum())
    subject = "1 timestamp" if timestamps == 1 else f"{timestamps:,} timestamps"
    notes.append(
        f"{subject} occurred in several rows with different values: "
        f"the mean was taken, of {rows:,} rows."
    )
    if 2 * rows > counts.sum():
        notes.append(
            "If these rows belong to several series, give each a column or a file of its own."
        )


def _note_end_of_summer_time(times: NDArray[Any], notes: list[str]) -> None:
    """Note where a clock without a zone goes back by one hour, as when summer time ends."""
    steps = np.diff(times.astype(np.int64))
    if not (steps > 0).any():
        return
    common = int(np.median(steps[steps > 0]))
    back = np.flatnonzero(steps <= 0)
    at_night = (times[back].astype("datetime64[h]").astype(np.int64) % 24) < 4
    days = (times[-1] - times[0]) / np.timedelta64(1, "D")
    fits = (np.abs(common - steps[back] - HOUR) <= common) & at_night & (common <= HOUR)
    if not fits.any() or not fits.all() or len(back) > 1 + days / 180:
        return
    when = str(times[back[0] + 1].astype("datetime64[m]")).replace("T", " ")
    notes.append(
        f"The clock goes back by an hour at {when}, as at the end of summer time: "
        "the two hours were merged. Write times with a zone (+01:00) to keep both."
    )
