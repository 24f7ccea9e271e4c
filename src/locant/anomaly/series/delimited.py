"""Text tables: CSV, TSV and the like, in blocks, so that a large file needs little more than its own size.

A file without quotation marks is cut by polars, five times as fast as the csv module, which reads the others.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.opening import KINDS
from locant.anomaly.series.raw import Raw, Whole, unique
from locant.anomaly.series.separator import SEPARATORS, has_header, separator
from locant.anomaly.series.survey import Text

LINES = 50_000  # lines of a block
ROWS = 2_000  # rows of a block of the csv module: few enough to stay near the processor
HEAD = 50  # lines that decide what stands between cells


class Block(NamedTuple):
    """Some rows: their columns, and the line of each."""

    columns: list[pl.Series]
    places: Whole
    skipped: int  # empty lines


def read_delimited(text: Text) -> Raw:
    """The cells of a text table."""
    with text.open() as file:
        head = [line.rstrip("\n") for line in islice((line for line in file if line.strip()), HEAD)]
    if not head:
        raise ValueError(
            f"{text.path} holds only empty lines. A series needs at least two rows of numbers."
        )
    mark = separator(head)
    try:
        rows = list(csv.reader(head, delimiter=mark, skipinitialspace=True))
    except csv.Error as problem:
        raise ValueError(f"{text.path} is no table: {problem}. {KINDS}.") from None
    width, headed = len(rows[0]), has_header(rows)
    blocks = list(_quoted(text, mark, width) if text.quoted else _plain(text, mark, width))
    columns = [pl.concat(parts) for parts in zip(*(block.columns for block in blocks), strict=True)]
    places, skipped = (
        np.concatenate([block.places for block in blocks]),
        sum(block.skipped for block in blocks),
    )
    said: list[str] = []
    names = unique(rows[0] if headed else [""] * width, said)
    if not headed:
        said.append(f"The first line names no columns: they are called {', '.join(names)}.")
    if skipped:
        said.append(f"{skipped:,} empty line{'s were' if skipped > 1 else ' was'} skipped.")
    columns, places = [cells.slice(int(headed)) for cells in columns], places[int(headed) :]
    return Raw(
        str(text.path),
        SEPARATORS[mark] if width > 1 else "text",
        names,
        columns,
        places,
        "line",
        headed,
        said,
    )


def _plain(text: Text, mark: str, width: int) -> Iterator[Block]:
    """Rows of a file in which every mark stands between cells."""
    done = 0
    with text.open() as file:
        while lines := list(islice(file, LINES)):
            cells = pl.Series(lines, dtype=pl.String).str.strip_chars_end("\n")
            full = (cells.str.strip_chars(" ") != "").to_numpy() | (width == 1)
            places, cells = done + 1 + np.flatnonzero(full), cells.filter(full)
            counts = cells.str.count_matches(mark, literal=True).to_numpy() + 1
            if (wrong := counts != width).any():
                row = int(wrong.argmax())
                raise ValueError(_ragged(text, places[row], counts[row], width))
            done += len(lines)
            fields = (
                cells.str.split_exact(mark, width - 1).struct.unnest().get_columns()
                if width > 1
                else [cells]
            )
            yield Block(fields, places, len(lines) - len(cells))


def _quoted(text: Text, mark: str, width: int) -> Iterator[Block]:
    """Rows of a file in which a mark, or the end of a line, may be part of a cell."""
    with text.open() as file:
        reader = csv.reader(file, delimiter=mark, strict=True, skipinitialspace=True)
        try:
            while block := [(reader.line_num, row) for row in islice(reader, ROWS)]:
                full = [(line, row or [""]) for line, row in block if row or width == 1]
                for line, row in full:
                    if len(row) != width:
                        raise ValueError(_ragged(text, line, len(row), width))
                columns = [
                    pl.Series([row[k] for _, row in full], dtype=pl.String) for k in range(width)
                ]
                yield Block(
                    columns, np.array([line for line, _ in full], np.int64), len(block) - len(full)
                )
        except csv.Error as problem:
            raise ValueError(
                f"{text.path}, line {reader.line_num:,}: the quotation marks do not pair up ({problem}).\n"
                "  A cell is quoted as a whole, and a quotation mark in it is written twice."
            ) from None


def _ragged(text: Text, line: int, cells: int, width: int) -> str:
    return (
        f"{text.path}, line {line:,} has {cells} cell{'s' if cells > 1 else ''}, but the first line has {width}.\n"
        "  Give every row the same number of cells; one that is missing is left empty between its marks."
    )
