"""Read rows one at a time from an iterator of lines that may never end, as a file is read.

A stream cannot look ahead: a missing value stays NaN, and what a later row of a file would settle,
such as the order of day and month, is refused.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from locant._internal.checks import one_of
from locant.anomaly.series.delimited import find_separator, is_word
from locant.anomaly.series.file_formats import as_cell, parse_object
from locant.anomaly.series.number_format import NumberFormat, is_missing, is_number, parse_number
from locant.anomaly.series.raw_table import STREAM, Floats, Line, as_table, unique_names
from locant.anomaly.series.roles import is_time_name
from locant.anomaly.series.time_column import read_times
from locant.anomaly.series.timestamp_cells import detect_format, is_dated
from locant.positions.timestamp_formats import EPOCH_TICKS, epoch_unit
from locant.positions.timestamp_parser import epoch_nanoseconds, parse

FIRST_SECOND = int(np.datetime64("1678-01-02", "s").astype(np.int64))
LAST_SECOND = int(np.datetime64("2261-12-30", "s").astype(np.int64))
NumberedLine = tuple[int, str]


class Row(NamedTuple):
    """One row of a stream."""

    line: int  # counted from 1
    time: Any  # datetime64[ns], float, or None without a time column
    values: Floats  # (F,), NaN where a value is missing
    names: list[str]  # (F,)
    notes: list[str]  # repairs of this row; those of all rows come with the first

    @property
    def said(self) -> list[str]:
        """Return `notes`, by their old name."""
        warnings.warn("Row.said is now Row.notes.", DeprecationWarning, stacklevel=2)
        return self.notes


class StreamRoles(NamedTuple):
    """The indices of the time column and of the value columns."""

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
    r"""Read lines of CSV, TSV or JSON as they arrive, and yield a row for each.

    header   the names of the columns; by default the first line, when it holds only words
    time     the time column; by default a column of dates, or one whose name says so
    columns  the value columns; by default those that are numbers, or missing, in the first row
    decimal  the decimal mark: "." or ","

    >>> for row in stream_rows(["time,load\n", "2014-02-14,1.5\n", "2014-02-15,NA\n"]):
    ...     print(row.time, row.values)
    2014-02-14T00:00:00.000000000 [1.5]
    2014-02-15T00:00:00.000000000 [nan]
    """
    number_format = NumberFormat(one_of("stream_rows", "decimal", decimal, (".", ",")))
    time_reader, roles = None, None
    for line in split_lines(lines, header):
        notes: list[str] = []
        if roles is None:
            roles = _assign_roles(line, time, columns)
            if roles.time is not None:
                time_reader = TimeReader(line, roles.time, number_format, notes)
        at = None if time_reader is None else time_reader.read(line)
        values = _read_values(line, roles.values, number_format, notes)
        yield Row(line.number, at, values, [line.names[index] for index in roles.values], notes)


def split_lines(lines: Iterable[str], header: Sequence[str] | None) -> Iterator[Line]:
    r"""Split every line that is not empty. Without a header, a first line of words names columns.

    >>> next(split_lines(["time;load\n", "2014-02-14;1,5\n"], None))
    Line(number=2, names=['time', 'load'], cells=['2014-02-14', '1,5'])
    """
    numbered = _skip_empty(lines)
    first = next(numbered, None)
    if first is None:
        return
    if first[1].lstrip().startswith("{"):
        yield from _split_objects(first, numbered, header)
    else:
        yield from _split_rows(first, numbered, header)


def _skip_empty(lines: Iterable[str]) -> Iterator[NumberedLine]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line.strip("\r\n\ufeff")


def _split_objects(
    first: NumberedLine, rest: Iterator[NumberedLine], header: Sequence[str] | None
) -> Iterator[Line]:
    names = list(header or parse_object(first[1], STREAM, first[0]))
    for number, line in chain([first], rest):
        row = parse_object(line, STREAM, number)
        yield Line(number, names, [as_cell(row.get(name)) for name in names])


def _split_rows(
    first: NumberedLine, rest: Iterator[NumberedLine], header: Sequence[str] | None
) -> Iterator[Line]:
    separator = find_separator([first[1]])
    cells = _split(*first, separator)
    if header is not None:
        names, is_header = list(header), list(header) == cells
    else:
        is_header = all(is_word(cell) or not cell for cell in cells)
        names = cells if is_header else [""] * len(cells)
    names = unique_names(names, [])
    if not is_header:
        yield _check_width(first[0], names, cells)
    for number, line in rest:
        yield _check_width(number, names, _split(number, line, separator))


def _split(number: int, line: str, separator: str) -> list[str]:
    try:
        reader = csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True)
        return [cell.strip() for cell in next(reader)]
    except csv.Error as problem:
        raise ValueError(
            f"{STREAM}, line {number:,}: the quotation marks do not pair up ({problem}).\n"
            "  In a stream every row is one line, so a cell cannot hold a line ending."
        ) from None


def _check_width(number: int, names: list[str], cells: list[str]) -> Line:
    if len(cells) != len(names):
        raise ValueError(
            f"{STREAM}, line {number:,} has {len(cells)} cells, but there are {len(names)} "
            f"columns: {', '.join(names)}.\n"
            "  Give every row the same number of cells, and leave a missing cell empty."
        )
    return Line(number, names, list(cells))


class TimeReader:
    """Reads the time of one line after another, in the format of the first line."""

    def __init__(
        self, first: Line, column: int, number_format: NumberFormat, notes: list[str]
    ) -> None:
        self.first, self.column, self.number_format = first, column, number_format
        table = as_table([first], [column])
        self.times = read_times(table, 0, number_format)
        notes += table.notes
        self.epoch = self.times.format.removesuffix(" since 1970")
        self.form = detect_format(table.columns[0], digits=True)
        self.day_first = self.times.format.startswith("day")

    def read(self, line: Line) -> Any:
        """Read the time of a line; one that is not simple is read as a file would be."""
        simple = self._read_simple((line.cells[self.column] or "").strip())
        if simple is not None:
            return simple
        both = as_table([self.first, line], [self.column])
        times = read_times(both, 0, self.number_format)
        if times.format != self.times.format:
            raise ValueError(
                f"{STREAM}, line {line.number:,}: the times change from {self.times.format} to "
                f"{times.format}. Keep to one format."
            )
        return times.values[-1]

    def _read_simple(self, cell: str) -> Any:
        """Read a cell without the cost of making a table; None if that needs one."""
        if not self.times.dated:
            return parse_number(cell, self.number_format)
        if self.epoch in EPOCH_TICKS:
            return self._read_epoch(cell)
        parsed = None if self.form is None else parse(cell, self.form, day_first=self.day_first)
        if parsed is None or not parsed.valid or parsed.zoned != self.times.zoned:
            return None
        if not FIRST_SECOND <= parsed.seconds < LAST_SECOND:
            return None
        return np.datetime64(parsed.seconds * 10**9 + parsed.nanoseconds, "ns")

    def _read_epoch(self, cell: str) -> Any:
        if not cell.isdecimal() or len(cell) >= 20:
            return None
        value = np.array([int(cell)])
        if epoch_unit(value) != self.epoch:
            return None
        return epoch_nanoseconds(value, self.epoch)[0].astype("datetime64[ns]")


def _assign_roles(line: Line, time: str | None, columns: Sequence[str] | None) -> StreamRoles:
    """Assign the roles of the columns from the first row alone."""
    table = as_table([line], range(len(line.names)))
    if time is not None:
        time_index: int | None = table.find_column(time, "the time column")
    else:
        time_index = _find_time_column(line, columns or ())
    if columns is not None:
        return StreamRoles(
            time_index, [table.find_column(name, "a value column") for name in columns]
        )
    values = []
    for index, cells in enumerate(table.columns):
        if index != time_index and (is_missing(cells)[0] or is_number(str(cells[0]))):
            values.append(index)
    if not values:
        raise ValueError(
            f"{STREAM}, line {line.number}: no cell besides the time is a number. Got {line.cells}."
        )
    return StreamRoles(time_index, values)


def _find_time_column(line: Line, columns: Sequence[str]) -> int | None:
    """Return a column of dates with the name of a time, else one of dates, else one by name."""
    dated: set[int] = set()
    named: set[int] = set()
    for index, name in enumerate(line.names):
        if name in columns or line.cells[index] is None:
            continue
        if is_dated(pl.Series([line.cells[index]], dtype=pl.String)):
            dated.add(index)
        if is_time_name(name):
            named.add(index)
    for candidates in (dated & named, dated, named):
        if candidates:
            return min(candidates)
    return None


def _read_values(
    line: Line, indices: list[int], number_format: NumberFormat, notes: list[str]
) -> Floats:
    values = [parse_number(line.cells[index], number_format) for index in indices]
    for index, value in zip(indices, values, strict=True):
        if value is None:
            notes.append(
                f"Line {line.number:,}: {line.cells[index]!r} in column {line.names[index]} "
                "is not a number: treated as missing."
            )
    return np.array([np.nan if value is None else value for value in values])
