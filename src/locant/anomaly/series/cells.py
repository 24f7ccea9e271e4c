r"""What a cell of text means: missing, a number, or neither. The one place where numbers are read.

    number = [sign] digits [mark digits] [e [sign] digits],      digits in groups of three where a group mark is allowed

>>> read = numbers(pl.Series(["1.5", " 2e3", "NA", "abc", "-inf"]))
>>> read.values.tolist(), read.text.tolist()
([1.5, 2000.0, nan, nan, nan], [False, False, False, True, False])
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.raw import Flags, Floats

MISSING = ["", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "missing", "?", "-", "--"]
MISSING += [sign + word for sign in ("", "+", "-") for word in ("inf", "infinity")]


class Marks(NamedTuple):
    """How numbers are written: what stands before the fraction, and what between groups of three digits, if anything."""

    decimal: str = "."
    group: str = ""

    @property
    def pattern(self) -> str:
        """The regular expression of one number, the same for polars and Python."""
        grouped = rf"|[1-9][0-9]{{0,2}}(?:\{self.group}[0-9]{{3}})+" if self.group else ""
        whole, fraction = rf"(?:[0-9]+{grouped})", rf"\{self.decimal}[0-9]"
        return rf"^[+-]?(?:{whole}(?:{fraction}*)?|{fraction}+)(?:[eE][+-]?[0-9]+)?$"


PLAIN = Marks()
BLOCK = 100_000  # cells that are read at a time


class Numbers(NamedTuple):
    """A column as numbers, (T,) each."""

    values: Floats  # NaN where there is no number
    text: Flags  # something is written there that is no number
    beyond: Flags  # a number past the range of float64


def missing(cells: pl.Series) -> pl.Series:
    """Which cells of text say nothing."""
    return cells.is_null() | cells.str.strip_chars().str.to_lowercase().is_in(MISSING)


def blocks(cells: pl.Series) -> list[pl.Series]:
    """A column in parts, so that what is made of each on the way takes little memory."""
    return [cells.slice(start, BLOCK) for start in range(0, max(len(cells), 1), BLOCK)]


def numbers(cells: pl.Series, marks: Marks = PLAIN) -> Numbers:
    """Every cell as a number, where it is one. Infinite values of Parquet count as missing."""
    parts = [_numbers(part, marks) for part in blocks(cells)]
    return Numbers(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def number(cell: str | None, marks: Marks = PLAIN) -> float | None:
    """One cell, as `numbers` reads a column, but without its cost: NaN when it is missing, None when it is no number.

    >>> number("1.5"), number("NA"), number("abc"), number("1e400")
    (1.5, nan, None, None)
    """
    bare = (cell or "").strip()
    if bare.lower() in MISSING:
        return math.nan
    if not re.match(marks.pattern, bare):
        return None
    read = float(bare.replace(marks.group or " ", "").replace(marks.decimal, "."))
    return read if math.isfinite(read) else None


def _numbers(cells: pl.Series, marks: Marks) -> Numbers:
    none = np.zeros(len(cells), np.bool_)
    if cells.dtype != pl.String:
        values = cells.cast(pl.Float64).to_numpy().copy()
        values[~np.isfinite(values)] = np.nan
        return Numbers(values, none, none)
    bare = cells.str.strip_chars()
    fits = bare.str.contains(marks.pattern).fill_null(False)
    plain = bare if marks.group == "" else bare.str.replace_all(marks.group, "", literal=True)
    plain = plain if marks.decimal == "." else plain.str.replace(marks.decimal, ".", literal=True)
    read = (
        plain.set(~fits, None).cast(pl.Float64, strict=False).to_numpy().copy()
    )  # null becomes NaN
    beyond = np.isinf(read)
    read[beyond] = np.nan
    return Numbers(read, (~(fits | missing(cells))).to_numpy(), beyond)
