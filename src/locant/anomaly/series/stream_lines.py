"""Split lines of text into cells as they arrive: CSV, TSV or JSON, decided by the first line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.delimited import find_separator, is_word
from locant.anomaly.series.jsonlines import as_cell, parse_object
from locant.anomaly.series.raw_table import RawTable, unique_names

SOURCE = "the stream"
NumberedLine = tuple[int, str]


class Line(NamedTuple):
    """The cells of one line."""

    number: int  # counted from 1
    names: list[str]
    cells: list[str | None]


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


def as_table(lines: Sequence[Line], columns: Iterable[int]) -> RawTable:
    """Make a table of some columns of some lines."""
    indices = list(columns)
    names = [lines[0].names[index] for index in indices]
    cells = [pl.Series([line.cells[index] for line in lines], dtype=pl.String) for index in indices]
    return RawTable(SOURCE, "stream", names, cells, np.array([line.number for line in lines]))


def _skip_empty(lines: Iterable[str]) -> Iterator[NumberedLine]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line.strip("\r\n\ufeff")


def _split_objects(
    first: NumberedLine, rest: Iterator[NumberedLine], header: Sequence[str] | None
) -> Iterator[Line]:
    names = list(header or parse_object(first[1], SOURCE, first[0]))
    for number, line in chain([first], rest):
        row = parse_object(line, SOURCE, number)
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
            f"{SOURCE}, line {number:,}: the quotation marks do not pair up ({problem}).\n"
            "  In a stream every row is one line, so a cell cannot hold a line ending."
        ) from None


def _check_width(number: int, names: list[str], cells: list[str]) -> Line:
    if len(cells) != len(names):
        raise ValueError(
            f"{SOURCE}, line {number:,} has {len(cells)} cells, but there are {len(names)} "
            f"columns: {', '.join(names)}.\n"
            "  Give every row the same number of cells, and leave a missing cell empty."
        )
    return Line(number, names, list(cells))
