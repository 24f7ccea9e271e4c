"""Rows one at a time, from an iterator of lines that may never end. The same cells, numbers and times as in a file.

Nothing can be looked up ahead: a missing value stays NaN, and what a later row of a file would settle is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from locant._internal.checks import one_of
from locant.anomaly.series.cells import Marks, missing, number
from locant.anomaly.series.clock import Clock
from locant.anomaly.series.cutting import SOURCE, Cut, as_table, cut_lines
from locant.anomaly.series.finding import is_named
from locant.anomaly.series.raw import Floats
from locant.anomaly.series.separator import is_number
from locant.anomaly.series.stamps import is_dated


class Row(NamedTuple):
    """One row of a stream."""

    line: int  # counted from 1
    time: Any  # datetime64[ns], float, or None without a time column
    values: Floats  # (F,) NaN where a value is missing
    names: list[str]  # (F,)
    said: list[str]  # what was repaired in this row; what holds for all rows is said with the first


class _Roles(NamedTuple):
    time: int | None
    values: list[int]


def stream_rows(
    lines: Iterable[str],
    header: Sequence[str] | None = None,
    *,
    time: str | None = None,
    columns: Sequence[str] | None = None,
    decimal: str = ".",
) -> Iterator[Row]:
    r"""Read lines of CSV, TSV or JSON as they come, and give a row for each.

    header   the names of the columns; by default the first line, when it holds only words
    time     the time column; by default a column of dates, or one whose name says so
    columns  the value columns; by default those that are numbers, or missing, in the first row
    decimal  what stands before a fraction: "." or ","

    >>> for row in stream_rows(["time,load\n", "2014-02-14,1.5\n", "2014-02-15,NA\n"]):
    ...     print(row.time, row.values)
    2014-02-14T00:00:00.000000000 [1.5]
    2014-02-15T00:00:00.000000000 [nan]
    """
    marks = Marks(one_of("stream_rows", "decimal", decimal, (".", ",")))
    clock, roles = None, None
    for cut in cut_lines(lines, header):
        said: list[str] = []
        if roles is None:
            roles = _roles(cut, time, columns)
            clock = None if roles.time is None else Clock(cut, roles.time, marks, said)
        at = None if clock is None else clock.read(cut)
        values = _values(cut, roles.values, marks, said)
        yield Row(cut.line, at, values, [cut.names[place] for place in roles.values], said)


def _roles(cut: Cut, time: str | None, columns: Sequence[str] | None) -> _Roles:
    """What each column is for, from the first row alone."""
    raw = as_table([cut], range(len(cut.names)))
    clock = raw.find(time, "the time column") if time is not None else _clock(cut, columns or ())
    if columns is not None:
        return _Roles(clock, [raw.find(name, "a value column") for name in columns])
    counted = [
        place
        for place, cells in enumerate(raw.columns)
        if missing(cells)[0] or is_number(str(cells[0]))
    ]
    values = [place for place in counted if place != clock]
    if not values:
        raise ValueError(
            f"{SOURCE}, line {cut.line}: no cell besides the time is a number. Got {cut.cells}."
        )
    return _Roles(clock, values)


def _clock(cut: Cut, columns: Sequence[str]) -> int | None:
    free = [
        place
        for place, name in enumerate(cut.names)
        if name not in columns and cut.cells[place] is not None
    ]
    dated = [place for place in free if is_dated(pl.Series([cut.cells[place]], dtype=pl.String))]
    named = [place for place in free if is_named(cut.names[place])]
    return next((place for place in (*(p for p in dated if p in named), *dated, *named)), None)


def _values(cut: Cut, places: list[int], marks: Marks, said: list[str]) -> Floats:
    read = [number(cut.cells[place], marks) for place in places]
    for place, value in zip(places, read, strict=True):
        if value is None:
            cell, name = cut.cells[place], cut.names[place]
            said.append(
                f"Line {cut.line:,}: {cell!r} in column {name} is no number: taken as missing."
            )
    return np.array([np.nan if value is None else value for value in read])
