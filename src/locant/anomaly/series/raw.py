"""A table as it stands in its file: named columns of cells, and the line each row came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from locant._internal.checks import did_you_mean

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass
class Raw:
    """Cells before anything is made of them: text, or what Parquet holds."""

    path: str
    kind: str  # "CSV", "JSON lines", …
    names: list[str]
    columns: list[pl.Series]  # all of one length
    places: Whole  # the line (or row) of each row, counted from 1
    unit: str = "line"  # what places count
    headed: bool = True
    said: list[str] = field(default_factory=list)

    def where(self, row: int) -> str:
        """'line 17': where a person finds this row in the file."""
        return f"{self.unit} {self.places[row]:,}"

    def find(self, name: str, role: str) -> int:
        """The place of the column of this name; `role` is what it was asked for as.

        >>> Raw("a.csv", "CSV", ["value"], [pl.Series(["1"])], np.array([2])).find("valeu", "a label column")
        Traceback (most recent call last):
        ValueError: a.csv has no column 'valeu', asked for as a label column. Did you mean 'value'?
          Its columns: value
        """
        if name not in self.names:
            raise ValueError(
                f"{self.path} has no column {name!r}, asked for as {role}.{did_you_mean(str(name), self.names)}\n"
                f"  Its columns: {', '.join(self.names)}"
            )
        return self.names.index(name)


def unique(names: Sequence[str], said: list[str]) -> list[str]:
    """The names, stripped; empty ones are numbered, and repeated ones get a number of their own.

    >>> said = []
    >>> unique(["time", "load", "load", " "], said)
    ['time', 'load', 'load_2', 'column_4']
    >>> said
    ["2 columns are called 'load': they are told apart as load, load_2."]
    """
    bare = [name.strip() or f"column_{place}" for place, name in enumerate(names, 1)]
    made: list[str] = []
    for name in bare:
        new, copy = name, 1
        while new in made or (copy > 1 and new in bare):
            copy += 1
            new = f"{name}_{copy}"
        made.append(new)
    for name, count in Counter(bare).items():
        if count > 1:
            same = ", ".join(new for new, old in zip(made, bare, strict=True) if old == name)
            said.append(f"{count} columns are called {name!r}: they are told apart as {same}.")
    return made
