"""A column that says which rows are anomalous: 0/1, true/false, normal/anomaly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.cells import Marks, missing, numbers
from locant.anomaly.series.raw import Flags, Raw

NAMES = (
    "label",
    "anomaly",
    "is_anomaly",
)  # of columns that are taken for labels by themselves, when they can be
TRUE = ["1", "true", "yes", "anomaly", "anomalous", "abnormal"]
FALSE = ["0", "false", "no", "normal"]
ALLOWED = "0/1, true/false, yes/no and normal/anomaly are understood"


class Marked(NamedTuple):
    """A column as labels, (T,) each."""

    labels: Flags
    absent: Flags
    wrong: Flags  # something else is written there


def as_labels(cells: pl.Series, marks: Marks) -> Marked:
    """Every cell as a label, where it is one.

    >>> as_labels(pl.Series(["Normal", "anomaly", "1.0", "", "2"]), Marks())
    Marked(labels=array([False,  True,  True, False, False]),
           absent=array([False, False, False,  True, False]), wrong=array([False, False, False, False,  True]))
    """
    nothing = np.zeros(len(cells), np.bool_)
    if not (cells.dtype == pl.String or cells.dtype.is_numeric()):
        return Marked(nothing, nothing, ~nothing)
    values = numbers(cells, marks).values
    true, false, absent = values == 1, values == 0, np.isnan(values)
    if cells.dtype == pl.String:
        words = cells.str.strip_chars().str.to_lowercase()
        true |= words.is_in(TRUE).fill_null(False).to_numpy()
        false |= words.is_in(FALSE).fill_null(False).to_numpy()
        absent = missing(cells).to_numpy()
    return Marked(true, absent, ~(true | false | absent))


def find_labels(raw: Raw, marks: Marks) -> list[int]:
    """The columns that are labels by name and by what they hold, the likeliest first."""
    named = [
        place for name in NAMES for place, column in enumerate(raw.names) if column.lower() == name
    ]
    return [
        place
        for place in named
        if not (read := as_labels(raw.columns[place], marks)).wrong.any() and not read.absent.all()
    ]


def read_labels(raw: Raw, place: int, marks: Marks) -> Flags:
    """The labels in a column (T,), or a sentence that says what else stands in it."""
    read, name = as_labels(raw.columns[place], marks), raw.names[place]
    if read.wrong.any():
        row = int(read.wrong.argmax())
        raise ValueError(
            f"{raw.path}, {raw.where(row)}: {str(raw.columns[place][row])!r} in the label column {name} is no label.\n"
            f"  {ALLOWED}; or give windows, a file of [start, end] pairs."
        )
    if read.absent.any():
        raw.said.append(
            f"{name}: {read.absent.sum():,} of {len(read.absent):,} rows had no label: taken as normal."
        )
    return read.labels
