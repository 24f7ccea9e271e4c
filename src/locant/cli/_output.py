"""Print what commands share: tables as wide as the terminal, JSON, names of written files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

MIN_TEXT_LENGTH = 20  # a cell with at least this many characters is text, not a number
COLUMN_GAP = 3  # characters between columns


def print_json(value: Any) -> None:
    """Print a value as indented JSON on standard output; NaN and infinity are refused."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_written(*paths: Path) -> None:
    """Name the written files on standard error, so that standard output holds the answer alone."""
    for path in paths:
        print(f"wrote {path}", file=sys.stderr)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say why a path could not be written."""
    try:
        yield
    except OSError as problem:
        raise ValueError(
            f"{path} cannot be written: {problem.strerror or problem}.\n"
            "  The results stay in the store. Free some space, or give another path."
        ) from None


def print_table(
    console: Console, header: list[str], rows: list[list[str]], *, min_text: int = MIN_TEXT_LENGTH
) -> None:
    """Print a table, in several parts when its columns of numbers do not fit beside each other.

    A column with a cell of at least `min_text` characters is a column of text: it is folded
    instead.
    """
    columns = range(1, len(header))
    is_text = [any(len(row[column]) >= min_text for row in rows) for column in columns]
    parts = [columns] if any(is_text) else fitting(console.width, header, rows)
    for part in parts:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column(escape(header[0]), no_wrap=not any(is_text))
        for column in part:
            text = is_text[column - 1]
            table.add_column(
                escape(header[column]), justify="left" if text else "right", no_wrap=not text
            )
        for row in rows:
            table.add_row(*[escape(row[column]) for column in (0, *part)])
        console.print(table)


def fitting(width: int, header: list[str], rows: list[list[str]]) -> list[range]:
    """Split the columns after the first into parts that fit into `width` characters.

    >>> fitting(26, ["", "one", "two", "three"], [["rotary", "0.91 ± .01", "0.5", "0.25"]])
    [range(1, 2), range(2, 4)]
    """
    widths = []
    for column in range(len(header)):
        longest = max(len(row[column]) for row in [header, *rows])
        widths.append(longest + COLUMN_GAP)
    parts, start = [], 1
    for column in range(2, len(header) + 1):
        if column == len(header) or widths[0] + sum(widths[start : column + 1]) > width:
            parts.append(range(start, column))
            start = column
    return parts
