"""Read text tables, CSV, TSV and the like: find the separator and the header, then the cells.

A file is read in blocks, so that a large one needs little more memory than its own size. A file
without quotation marks is split by polars, five times as fast as the csv module, which reads the
others.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.input_file import READABLE, TextFile
from locant.anomaly.series.number_format import MISSING, is_number
from locant.anomaly.series.raw_table import Integers, RawTable, unique_names
from locant.positions.timestamp_formats import FORMATS

SEPARATORS = {"\t": "TSV", ";": "CSV with semicolons", ",": "CSV", "|": "text with bars"}
BLOCK_LINES = 50_000  # lines of a block that polars splits
BLOCK_ROWS = 2_000  # rows of a block of the csv module: few enough to stay in the cache
HEAD_LINES = 50  # lines that decide the separator


class Block(NamedTuple):
    """Some rows: their columns, and the line of each."""

    columns: list[pl.Series]
    lines: Integers
    skipped: int  # empty lines


def read_delimited(text: TextFile) -> RawTable:
    """Read the cells of a text table."""
    with text.open() as file:
        full = (line for line in file if line.strip())
        head = [line.rstrip("\n") for line in islice(full, HEAD_LINES)]
    if not head:
        raise ValueError(
            f"{text.path} holds only empty lines. A series needs at least two rows of numbers."
        )
    separator = find_separator(head)
    try:
        rows = list(csv.reader(head, delimiter=separator, skipinitialspace=True))
    except csv.Error as problem:
        raise ValueError(f"{text.path} is not a table: {problem}. {READABLE}.") from None
    width, headed = len(rows[0]), has_header(rows)
    split = _split_quoted if text.has_quotes else _split_plain
    blocks = list(split(text, separator, width))
    columns = [pl.concat(parts) for parts in zip(*(block.columns for block in blocks), strict=True)]
    lines = np.concatenate([block.lines for block in blocks])
    skipped = sum(block.skipped for block in blocks)
    notes: list[str] = []
    names = unique_names(rows[0] if headed else [""] * width, notes)
    if not headed:
        notes.append(f"The first line does not name the columns: they are {', '.join(names)}.")
    if skipped:
        notes.append(f"{skipped:,} empty line{'s were' if skipped > 1 else ' was'} skipped.")
    first = int(headed)
    return RawTable(
        path=str(text.path),
        format=SEPARATORS[separator] if width > 1 else "text",
        names=names,
        columns=[cells.slice(first) for cells in columns],
        lines=lines[first:],
        has_header=headed,
        notes=notes,
    )


def find_separator(lines: Sequence[str]) -> str:
    r"""Return the separator that splits most of the first lines into as many cells as the first.

    >>> find_separator(["time;value", "2014-02-14;1,5", "2014-02-15;2,5"])
    ';'
    >>> find_separator(["value", "1,5", "2,5"])  # one column, with decimal commas
    '\t'
    """
    best, most = "", 0
    for separator in SEPARATORS:
        widths = _widths(lines, separator)
        agreeing = 0
        if widths and widths[0] > 1:
            agreeing = widths.count(widths[0])
        if agreeing > most:
            best, most = separator, agreeing
    if best:
        return best
    if all(map(is_number, lines[1:])):
        return "\t"
    common = {}
    for separator in SEPARATORS:
        width, count = Counter(_widths(lines, separator) or [1]).most_common(1)[0]
        common[separator] = (width, count) if width > 1 else (0, 0)
    return max(common, key=lambda separator: common[separator])


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: somewhere it has a word above numbers or dates.

    >>> has_header([["time", "load"], ["2014-02-14", "1.5"]])
    True
    >>> has_header([["2014-02-14", "1.5"], ["2014-02-15", "2"]])
    False
    """
    if len(rows) == 1:
        return any(map(is_word, rows[0]))
    for first, *rest in zip(*rows, strict=False):
        others = sum(not is_word(cell) for cell in rest)
        if is_word(first) and others * 2 > len(rest):
            return True
    return False


def is_word(cell: str) -> bool:
    """Whether a cell is neither missing, nor a number, nor a timestamp.

    >>> [is_word(cell) for cell in ("load", "1,5", "NA", "2014-02-14 14:30")]
    [True, False, False, False]
    """
    bare = cell.strip()
    is_timestamp = any(re.match(form.regex, bare) for form in FORMATS)
    return not (bare.lower() in MISSING or is_number(bare) or is_timestamp)


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """Count the cells of each line; no counts when a cell comes out too long to be one."""
    try:
        return [len(row) for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []


def _split_plain(text: TextFile, separator: str, width: int) -> Iterator[Block]:
    """Split the rows of a file in which every separator ends a cell."""
    done = 0
    with text.open() as file:
        while lines := list(islice(file, BLOCK_LINES)):
            cells = pl.Series(lines, dtype=pl.String).str.strip_chars_end("\n")
            full = (cells.str.strip_chars(" ") != "").to_numpy() | (width == 1)
            numbers, cells = done + 1 + np.flatnonzero(full), cells.filter(full)
            counts = cells.str.count_matches(separator, literal=True).to_numpy() + 1
            if (wrong := counts != width).any():
                row = int(wrong.argmax())
                raise _ragged(text, numbers[row], counts[row], width)
            done += len(lines)
            columns = [cells]
            if width > 1:
                columns = cells.str.split_exact(separator, width - 1).struct.unnest().get_columns()
            yield Block(columns, numbers, len(lines) - len(cells))


def _split_quoted(text: TextFile, separator: str, width: int) -> Iterator[Block]:
    """Split the rows of a file in which a separator or a line ending may be part of a cell."""
    with text.open() as file:
        reader = csv.reader(file, delimiter=separator, strict=True, skipinitialspace=True)
        try:
            while block := [(reader.line_num, row) for row in islice(reader, BLOCK_ROWS)]:
                full = [(line, row or [""]) for line, row in block if row or width == 1]
                for line, row in full:
                    if len(row) != width:
                        raise _ragged(text, line, len(row), width)
                columns = [
                    pl.Series([row[column] for _, row in full], dtype=pl.String)
                    for column in range(width)
                ]
                lines = np.array([line for line, _ in full], np.int64)
                yield Block(columns, lines, len(block) - len(full))
        except csv.Error as problem:
            raise ValueError(
                f"{text.path}, line {reader.line_num:,}: the quotation marks do not pair up "
                f"({problem}).\n"
                "  Quote whole cells, and write a quotation mark inside a cell twice."
            ) from None


def _ragged(text: TextFile, line: int, cells: int, width: int) -> ValueError:
    return ValueError(
        f"{text.path}, line {line:,} has {cells} cell{'s' if cells > 1 else ''}, "
        f"but the first line has {width}.\n"
        "  Give every row the same number of cells, and leave a missing cell empty."
    )
