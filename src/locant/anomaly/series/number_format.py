r"""Parse cells as numbers, and decide whether the comma in 1,5 is a decimal comma.

    number = [sign] digits [decimal digits] [e [sign] digits],     digits may have thousands marks

1,234 alone may be a thousand or one and a bit. A 0,5 or a 1.234,5 anywhere in the file settles it;
a file that leaves it open is refused.

>>> read = parse_numbers(pl.Series(["1.5", " 2e3", "NA", "abc", "-inf"]))
>>> read.values.tolist(), read.is_text.tolist()
([1.5, 2000.0, nan, nan, nan], [False, False, False, True, False])
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.raw_table import Flags, Floats, RawTable

MISSING = ["", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "missing", "?", "-", "--"]
MISSING += [sign + word for sign in ("", "+", "-") for word in ("inf", "infinity")]
BLOCK_CELLS = 100_000  # cells that are parsed at a time, to bound memory


class NumberFormat(NamedTuple):
    """How numbers are written: the decimal mark, and the thousands mark if there is one."""

    decimal: str = "."
    thousands: str = ""

    @property
    def pattern(self) -> str:
        """Return the regular expression of one number, the same for polars and Python."""
        grouped = ""
        if self.thousands:
            grouped = rf"|[1-9][0-9]{{0,2}}(?:\{self.thousands}[0-9]{{3}})+"
        whole, fraction = rf"(?:[0-9]+{grouped})", rf"\{self.decimal}[0-9]"
        return rf"^[+-]?(?:{whole}(?:{fraction}*)?|{fraction}+)(?:[eE][+-]?[0-9]+)?$"


PLAIN = NumberFormat()
COMMA = NumberFormat(",")
COMMA_GROUPED = NumberFormat(",", ".")
POINT_GROUPED = NumberFormat(".", ",")


class Numbers(NamedTuple):
    """A column as numbers, (T,) each."""

    values: Floats  # NaN where there is no number
    is_text: Flags  # the cell holds something that is not a number
    overflows: Flags  # the number is outside the range of float64


def is_missing(cells: pl.Series) -> pl.Series:
    """Flag the cells of text that stand for a missing value."""
    return cells.is_null() | cells.str.strip_chars().str.to_lowercase().is_in(MISSING)


def is_number(cell: str) -> bool:
    """Whether a cell is a number in any number format."""
    bare = cell.strip()
    return any(re.match(form.pattern, bare) for form in (POINT_GROUPED, COMMA_GROUPED))


def split_blocks(cells: pl.Series) -> list[pl.Series]:
    """Split a column into blocks, so that parsing each one takes little memory."""
    return [cells.slice(start, BLOCK_CELLS) for start in range(0, max(len(cells), 1), BLOCK_CELLS)]


def parse_numbers(cells: pl.Series, number_format: NumberFormat = PLAIN) -> Numbers:
    """Parse every cell of a column as a number. Infinite values of Parquet count as missing."""
    blocks = [_parse_block(block, number_format) for block in split_blocks(cells)]
    return Numbers(*(np.concatenate(arrays) for arrays in zip(*blocks, strict=True)))


def parse_number(cell: str | None, number_format: NumberFormat = PLAIN) -> float | None:
    """Parse one cell: NaN when it is missing, None when it is not a number.

    The result is that of `parse_numbers`, without the cost of making a column.

    >>> parse_number("1.5"), parse_number("NA"), parse_number("abc"), parse_number("1e400")
    (1.5, nan, None, None)
    """
    bare = (cell or "").strip()
    if bare.lower() in MISSING:
        return math.nan
    if not re.match(number_format.pattern, bare):
        return None
    plain = bare.replace(number_format.thousands or " ", "").replace(number_format.decimal, ".")
    value = float(plain)
    return value if math.isfinite(value) else None


def _parse_block(cells: pl.Series, number_format: NumberFormat) -> Numbers:
    if cells.dtype != pl.String:
        nowhere = np.zeros(len(cells), np.bool_)
        values = cells.cast(pl.Float64).to_numpy().copy()
        values[~np.isfinite(values)] = np.nan
        return Numbers(values, nowhere, nowhere)
    bare = cells.str.strip_chars()
    fits = bare.str.contains(number_format.pattern).fill_null(False)
    if number_format.thousands:
        bare = bare.str.replace_all(number_format.thousands, "", literal=True)
    if number_format.decimal != ".":
        bare = bare.str.replace(number_format.decimal, ".", literal=True)
    values = bare.set(~fits, None).cast(pl.Float64, strict=False).to_numpy().copy()  # null → NaN
    overflows = np.isinf(values)
    values[overflows] = np.nan
    return Numbers(values, (~(fits | is_missing(cells))).to_numpy(), overflows)


def detect_number_format(table: RawTable) -> NumberFormat:
    """Decide how the numbers of a file are written, from all of its numbers.

    >>> cells = [pl.Series(["1,234", "0,5"])]
    >>> detect_number_format(RawTable("a.csv", "CSV", ["value"], cells, np.arange(2)))
    NumberFormat(decimal=',', thousands='')
    """
    if not any(map(_has_comma, table.columns)):
        return PLAIN
    numbers = {
        name: _distinct_numbers(cells)
        for name, cells in zip(table.names, table.columns, strict=True)
    }
    name, cell = _first_with_comma(numbers)
    if not cell:
        return PLAIN
    every = pl.concat(list(numbers.values()))
    fitting = [
        form
        for form in (COMMA, COMMA_GROUPED, POINT_GROUPED)
        if every.str.contains(form.pattern).all()
    ]
    if not fitting:
        one, other = _first_misfit(every, POINT_GROUPED), _first_misfit(every, COMMA_GROUPED)
        raise ValueError(
            f"{table.path} writes numbers in two ways: {one!r} and {other!r}.\n"
            "  Write all of them with a decimal point, or all with a decimal comma."
        )
    if fitting[0].decimal == "," and POINT_GROUPED in fitting:
        fraction, thousands = cell.replace(",", "."), cell.replace(",", "")
        raise ValueError(
            f"{table.path}, column {name}: {cell!r} may be {fraction} or {thousands}, and nothing "
            "in the file settles it.\n"
            "  Write the numbers with a decimal point and without thousands marks."
        )
    mark = "a decimal comma" if fitting[0].decimal == "," else "a comma between the thousands"
    table.notes.append(f"Numbers were read with {mark}, as in {cell!r} of column {name}.")
    return fitting[0]


def _has_comma(cells: pl.Series) -> bool:
    return cells.dtype == pl.String and bool(cells.str.contains(",", literal=True).any())


def _first_with_comma(numbers: dict[str, pl.Series]) -> tuple[str, str]:
    """Return the column and the text of the first number with a comma, or two empty texts."""
    for name, cells in numbers.items():
        commas = cells.filter(cells.str.contains(",", literal=True))
        if len(commas):
            return name, str(commas[0])
    return "", ""


def _distinct_numbers(cells: pl.Series) -> pl.Series:
    """Return the distinct numbers of a column that is mostly numbers, in any format; else none."""
    if cells.dtype != pl.String:
        return pl.Series([], dtype=pl.String)
    bare = cells.drop_nulls().str.strip_chars()
    any_format = "|".join(form.pattern for form in (COMMA_GROUPED, POINT_GROUPED))
    numbers = bare.filter(bare.str.contains(any_format))
    if 2 * len(numbers) < len(cells) - int(is_missing(cells).sum()):
        return numbers.clear().rename("")
    return numbers.unique(maintain_order=True).rename("")


def _first_misfit(cells: pl.Series, number_format: NumberFormat) -> str:
    """Return the first number that is not written in this format."""
    return str(cells.filter(~cells.str.contains(number_format.pattern))[0])
