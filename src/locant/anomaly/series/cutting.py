"""Lines of text cut into cells as they come: CSV, TSV or JSON, told by the first line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.jsonlines import as_cell, parse_object
from locant.anomaly.series.raw import Raw, unique
from locant.anomaly.series.separator import is_word, separator

SOURCE = "the stream"


class Cut(NamedTuple):
    """The cells of one line."""

    line: int  # counted from 1
    names: list[str]
    cells: list[str | None]


def cut_lines(lines: Iterable[str], header: Sequence[str] | None) -> Iterator[Cut]:
    r"""Every line that is not empty, as cells. Without a header the first line is taken for one when it holds only words.

    >>> next(cut_lines(["time;load\n", "2014-02-14;1,5\n"], None))
    Cut(line=2, names=['time', 'load'], cells=['2014-02-14', '1,5'])
    """
    numbered = (
        (number, line.strip("\r\n\ufeff")) for number, line in enumerate(lines, 1) if line.strip()
    )
    first = next(numbered, None)
    if first is None:
        return
    if first[1].lstrip().startswith("{"):
        yield from _objects(first, numbered, header)
    else:
        yield from _rows(first, numbered, header)


def _objects(
    first: tuple[int, str], rest: Iterator[tuple[int, str]], header: Sequence[str] | None
) -> Iterator[Cut]:
    names = list(header or parse_object(first[1], SOURCE, first[0]))
    for number, line in chain([first], rest):
        yield _object(number, line, names)


def _object(number: int, line: str, names: list[str]) -> Cut:
    row = parse_object(line, SOURCE, number)
    return Cut(number, names, [as_cell(row.get(name)) for name in names])


def _rows(
    first: tuple[int, str], rest: Iterator[tuple[int, str]], header: Sequence[str] | None
) -> Iterator[Cut]:
    mark = separator([first[1]])
    cells = _cells(*first, mark)
    is_header = (
        list(header) == cells
        if header is not None
        else all(is_word(cell) or not cell for cell in cells)
    )
    names = unique(header if header is not None else cells if is_header else [""] * len(cells), [])
    if not is_header:
        yield _fitting(first[0], names, cells)
    for number, line in rest:
        yield _fitting(number, names, _cells(number, line, mark))


def _cells(number: int, line: str, mark: str) -> list[str]:
    try:
        return [
            cell.strip()
            for cell in next(csv.reader([line], delimiter=mark, strict=True, skipinitialspace=True))
        ]
    except csv.Error as problem:
        raise ValueError(
            f"{SOURCE}, line {number:,}: the quotation marks do not pair up ({problem}).\n"
            "  In a stream every row is one line, so no cell may hold the end of one."
        ) from None


def _fitting(number: int, names: list[str], cells: list[str]) -> Cut:
    if len(cells) != len(names):
        raise ValueError(
            f"{SOURCE}, line {number:,} has {len(cells)} cells, but there are {len(names)} columns: {', '.join(names)}.\n"
            "  Give every row the same number of cells; one that is missing is left empty between its marks."
        )
    return Cut(number, names, list(cells))


def as_table(cuts: Sequence[Cut], places: Iterable[int]) -> Raw:
    """Some columns of some rows, as a table."""
    chosen = list(places)
    columns = [pl.Series([cut.cells[place] for cut in cuts], dtype=pl.String) for place in chosen]
    return Raw(
        SOURCE,
        "stream",
        [cuts[0].names[place] for place in chosen],
        columns,
        np.array([cut.line for cut in cuts]),
    )
