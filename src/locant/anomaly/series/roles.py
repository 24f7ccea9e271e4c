"""Assign a role to each column: the time, the labels, or a value.

The time column is found by its name and by its cells: dates first, then numbers that can be times.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from locant.anomaly.series.labels import find_label_columns
from locant.anomaly.series.number_format import NumberFormat, is_missing, parse_numbers
from locant.anomaly.series.raw_table import Floats, RawTable
from locant.anomaly.series.timestamp_cells import has_clock, is_clock, is_dated
from locant.positions.timestamp_formats import epoch_unit

TIME_NAMES = {"time", "times", "timestamp", "timestamps", "date", "dates", "datetime"}
TIME_NAMES |= {"epoch", "unixtime", "ts", "ds"}
COUNTER_NAMES = {"t", "i", "n", "k", "index", "idx", "step", "row", "id", "no", "nr", "number"}
COUNTER_NAMES |= {"sample", "tick", "elapsed", "seconds", "minutes", "hours", "days"}
COUNTER_NAMES |= {"unnamed: 0"}  # what pandas calls an index without a name
MIN_RISING = 4  # fewer numbers may rise, or rise evenly, by accident


@dataclass
class Roles:
    """The indices of columns; a `taken` column is not a value."""

    time: int | None = None
    label: int | None = None
    taken: set[int] = field(default_factory=set)


def assign_roles(
    table: RawTable,
    number_format: NumberFormat,
    *,
    time: str | None,
    columns: Sequence[str] | None,
    label: str | None,
    windows: bool,
) -> Roles:
    """Assign the roles that the user asked for, and find the others."""
    _check_one_role_each(table, time, columns, label, windows)
    values = {table.find_column(name, "a value column") for name in columns or ()}
    if label is not None:
        labels = [table.find_column(label, "the label column")]
    else:
        labels = find_label_columns(table, number_format)
    labels = [index for index in labels if index not in values and table.names[index] != time]
    roles = Roles(label=None if windows else next(iter(labels), None), taken=set(labels))
    for index in labels[0 if windows else 1 :]:
        table.notes.append(
            f"Column {table.names[index]} holds labels, but others are used: left out."
        )
    if time is not None:
        roles.time = table.find_column(time, "the time column")
    else:
        roles.time = find_time_column(table, number_format, roles.taken | values)
    if roles.time is None and columns is None:  # reading it says what is wrong with it
        roles.time = _unreadable_time_column(table, number_format, roles.taken)
    if roles.time is not None:
        roles.taken.add(roles.time)
        _join_clock(table, roles, roles.time)
    return roles


def find_time_column(
    table: RawTable, number_format: NumberFormat, taken: Collection[int]
) -> int | None:
    """Return the index of the time column, or None; `taken` columns have another role.

    >>> cells = [pl.Series(["1.5", "2.5"]), pl.Series(["2014-02-14", "2014-02-15"])]
    >>> table = RawTable("a.csv", "CSV", ["load", "day"], cells, np.arange(2))
    >>> find_time_column(table, NumberFormat(), taken=())
    1
    """
    free = [index for index in range(len(table.names)) if index not in taken]
    dated = [index for index in free if is_dated(table.columns[index])]
    if dated:
        return min(dated, key=lambda index: (not is_time_name(table.names[index]), index))
    if len(table.names) < 2:
        return None
    return next((index for index in free if _counts_time(table, index, number_format)), None)


def is_time_name(name: str) -> bool:
    """Whether a name says that a column is a time.

    >>> names = ("timestamp", "eventTime", "Date/Time", "runtime", "temperature")
    >>> [is_time_name(name) for name in names]
    [True, True, True, False, False]
    """
    return bool(TIME_NAMES & {word.lower() for word in re.findall("[A-Z]*[a-z]+|[A-Z]+", name)})


def name_without_unit(name: str) -> str:
    """Return a column name in lower case, without its unit.

    >>> name_without_unit("Time (s)"), name_without_unit("time_ms"), name_without_unit("load")
    ('time', 'time', 'load')
    """
    bare = re.sub(r"[(\[].*?[)\]]", "", name.lower()).strip()
    return re.sub(r"[ _](?:ns|us|ms|s|sec|seconds|min|h|utc)$", "", bare)


def counts_rows(name: str, values: Floats) -> bool:
    """Whether a column only numbers the rows.

    >>> counts_rows("index", np.array([0.0, 1.0])), counts_rows("load", np.array([0.0, 1.0]))
    (True, False)
    """
    if name.lower() not in COUNTER_NAMES and name != "column_1":
        return False
    return len(values) > 1 and bool((values[1:] == values[:-1] + 1).all())


def _counts_time(table: RawTable, index: int, number_format: NumberFormat) -> bool:
    """Whether numbers are times: since 1970, or rising in a column whose name or index says so."""
    cells, name = table.columns[index], name_without_unit(table.names[index])
    if not (cells.dtype == pl.String or cells.dtype.is_numeric()):
        return False
    says_time, first = is_time_name(table.names[index]), index == 0
    if not (first or name in TIME_NAMES or name in COUNTER_NAMES or says_time):
        return False
    read = parse_numbers(cells, number_format)
    values = read.values[~np.isnan(read.values)]
    if len(values) < 2 or read.is_text.any() or 2 * len(values) < len(cells):
        return False
    steps = np.diff(values / 2)  # halved: the largest numbers are too far apart for float64
    if epoch_unit(values):
        return says_time or bool((steps >= 0).all())
    if name in TIME_NAMES:
        return bool((steps >= 0).all()) or 2 * len(np.unique(values)) >= len(values)
    by_index = first and len(values) >= MIN_RISING and (not table.has_header or _is_even(steps))
    return bool((steps > 0).all()) and (name in COUNTER_NAMES or by_index)


def _is_even(steps: Floats) -> bool:
    return bool(np.ptp(steps) <= 1e-6 * abs(steps.mean()))


def _unreadable_time_column(
    table: RawTable, number_format: NumberFormat, taken: Collection[int]
) -> int | None:
    """Return a column whose name is that of a time, but whose text is not a time."""
    if len(table.names) < 2:
        return None
    for index, name in enumerate(table.names):
        if name_without_unit(name) not in TIME_NAMES or index in taken:
            continue
        cells = table.columns[index]
        if cells.dtype == pl.String and parse_numbers(cells, number_format).is_text.any():
            return index
    return None


def _check_one_role_each(
    table: RawTable,
    time: str | None,
    columns: Sequence[str] | None,
    label: str | None,
    windows: bool,
) -> None:
    if label is not None and windows:
        raise ValueError(
            f"{table.path}: labels were asked for by label={label!r} and by windows. "
            "Give one of them."
        )
    for name, role in ((time, "the time"), (label, "the label")):
        if name is not None and (name in (columns or ()) or time == label):
            raise ValueError(
                f"{table.path}: column {name!r} was asked for as {role} and as something else. "
                "Give it one role."
            )


def _join_clock(table: RawTable, roles: Roles, date_index: int) -> None:
    """Join dates in one column and times of day in another into one time."""
    dates = table.columns[date_index]
    if dates.dtype != pl.String or not is_dated(dates) or has_clock(dates):
        return
    for clock_index, clocks in enumerate(table.columns):
        if clock_index != date_index and is_clock(clocks):
            break
    else:
        return
    dates = dates.str.strip_chars().set(is_missing(dates), None)
    clocks = clocks.str.strip_chars().set(is_missing(clocks), None)
    joined = pl.select(pl.concat_str(dates, clocks, separator=" ")).to_series()
    table.columns[date_index] = joined
    names = table.names[date_index], table.names[clock_index]
    table.notes.append(f"Columns {names[0]} and {names[1]} were joined: a date and a time of day.")
    table.names[date_index] = f"{names[0]} {names[1]}"
    roles.taken.add(clock_index)
