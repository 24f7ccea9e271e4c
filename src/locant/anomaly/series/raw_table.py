"""Hold a table as its file or stream has it: named columns of cells, and the line of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from locant._internal.checks import did_you_mean

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
STREAM = "the stream"  # in errors, where a file has its path


@dataclass
class RawTable:
    """Cells before they are parsed: text, or the typed values of a Parquet file."""

    path: str
    format: str  # "CSV", "JSON lines", …
    names: list[str]
    columns: list[pl.Series]  # all of one length
    lines: Integers  # the line of each row in the file, counted from 1
    unit: str = "line"  # what `lines` counts: "row" for Parquet, which has no lines
    has_header: bool = True
    notes: list[str] = field(default_factory=list)  # repairs, as sentences for the user

    def line_of(self, row: int) -> str:
        """Return 'line 17': where a person finds this row in the file."""
        return f"{self.unit} {self.lines[row]:,}"

    def find_column(self, name: str, role: str) -> int:
        """Return the index of a column; `role` is what the user asked for it as.

        >>> table = RawTable("a.csv", "CSV", ["value"], [pl.Series(["1"])], np.array([2]))
        >>> table.find_column("valeu", "a label column")
        Traceback (most recent call last):
        ValueError: a.csv has no column 'valeu', asked for as a label column. Did you mean 'value'?
          Its columns: value
        """
        if name not in self.names:
            near = did_you_mean(str(name), self.names)
            raise ValueError(
                f"{self.path} has no column {name!r}, asked for as {role}.{near}\n"
                f"  Its columns: {', '.join(self.names)}"
            )
        return self.names.index(name)


class Line(NamedTuple):
    """The cells of one line of a stream."""

    number: int  # counted from 1
    names: list[str]
    cells: list[str | None]


def as_table(lines: Sequence[Line], columns: Iterable[int]) -> RawTable:
    """Make a table of some columns of some lines of a stream."""
    indices = list(columns)
    names = [lines[0].names[index] for index in indices]
    cells = [pl.Series([line.cells[index] for line in lines], dtype=pl.String) for index in indices]
    return RawTable(STREAM, "stream", names, cells, np.array([line.number for line in lines]))


def unique_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Strip the column names, number the empty ones, and rename repeated ones.

    >>> notes = []
    >>> unique_names(["time", "load", "load", " "], notes)
    ['time', 'load', 'load_2', 'column_4']
    >>> notes
    ["2 columns are called 'load': they were renamed load, load_2."]
    """
    stripped = [name.strip() or f"column_{number}" for number, name in enumerate(names, 1)]
    unique: list[str] = []
    for name in stripped:
        new, copy = name, 1
        while new in unique or (copy > 1 and new in stripped):
            copy += 1
            new = f"{name}_{copy}"
        unique.append(new)
    for name, count in Counter(stripped).items():
        if count > 1:
            same = ", ".join(new for new, old in zip(unique, stripped, strict=True) if old == name)
            notes.append(f"{count} columns are called {name!r}: they were renamed {same}.")
    return unique
