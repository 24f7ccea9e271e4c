"""Read the time column: datetime64[ns], in UTC where a zone is written, or plain numbers.

All rows must have one format, and all of them a zone or none; the first row that has not is named.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from locant.anomaly.series.number_format import (
    NumberFormat,
    is_missing,
    parse_numbers,
    split_blocks,
)
from locant.anomaly.series.raw_table import Flags, Floats, Integers, RawTable
from locant.anomaly.series.timestamp_cells import (
    YEARS,
    ParsedBlock,
    are_plausible_dates,
    detect_format,
    parse_block,
)
from locant.positions.timestamp_formats import (
    DAY_FIRST,
    DIGITS,
    EXAMPLES,
    MONTH_FIRST,
    Format,
    day_is_first,
    epoch_unit,
)
from locant.positions.timestamp_parser import epoch_nanoseconds


class Times(NamedTuple):
    """The times of the rows, (T,), and how they are written."""

    values: NDArray[Any]  # datetime64[ns] or float64; NaT or NaN where there is none
    format: str
    zoned: bool = False

    @property
    def dated(self) -> bool:
        """Whether these are dates and not plain numbers."""
        return self.values.dtype.kind == "M"


def read_times(table: RawTable, column: int, number_format: NumberFormat) -> Times:
    """Read the times in a column, in whatever format they are written.

    >>> cells = [pl.Series(["14.02.2014 14:30", ""])]
    >>> table = RawTable("a.csv", "CSV", ["time"], cells, np.array([2, 3]))
    >>> read_times(table, 0, NumberFormat()).values.astype("datetime64[m]")
    array(['2014-02-14T14:30', 'NaT'], dtype='datetime64[m]')
    """
    cells = table.columns[column]
    if cells.dtype in (pl.Date, pl.Datetime):
        return _read_typed(table, column)
    form = None
    if cells.dtype == pl.String or cells.dtype.is_integer():
        cells = cells.cast(pl.String)
        form = detect_format(cells, digits=True)
    if form is not None and (form != DIGITS or are_plausible_dates(cells)):
        return _read_written(table, column, cells, form)
    return _read_numbers(table, column, number_format)


def as_datetimes(nanoseconds: Integers, present: Flags) -> NDArray[Any]:
    """Convert nanoseconds since 1970 to datetime64, NaT where no time is present."""
    return np.where(present, nanoseconds.astype("datetime64[ns]"), np.datetime64("NaT", "ns"))


def _read_typed(table: RawTable, column: int) -> Times:
    """Read a Parquet column that already holds times."""
    cells = table.columns[column]
    zone = getattr(cells.dtype, "time_zone", None)
    if zone not in (None, "UTC"):
        table.notes.append(f"Times in zone {zone} were converted to UTC.")
    years = cells.dt.year()
    wrong = ((years < YEARS[0]) | (years > YEARS[1])).fill_null(False)
    if wrong.any():
        reason = f"is not between the years {YEARS[0]} and {YEARS[1]}"
        raise _unreadable(table, column, int(wrong.arg_max() or 0), reason)
    if zone is not None:
        cells = cells.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return Times(cells.cast(pl.Datetime("ns")).to_numpy(), "dates", zoned=zone is not None)


def _read_numbers(table: RawTable, column: int, number_format: NumberFormat) -> Times:
    """Read numbers as times since 1970 if all of them can be, otherwise as plain numbers."""
    cells = table.columns[column]
    values, present = _whole_or_real(cells, number_format)
    if cells.dtype == pl.String:
        wrong = ~present & ~is_missing(cells).to_numpy()
        if wrong.any():
            raise _unreadable(table, column, int(wrong.argmax()), "is not a time")
    unit = epoch_unit(values[present])
    if unit is None:
        return Times(np.where(present, values.astype(np.float64), np.nan), "plain numbers")
    nanoseconds = epoch_nanoseconds(np.where(present, values, 0), unit)
    datetimes = as_datetimes(nanoseconds, present)
    return Times(datetimes, f"{unit} since 1970", zoned=True)


def _whole_or_real(
    cells: pl.Series, number_format: NumberFormat
) -> tuple[Integers | Floats, Flags]:
    """Return the numbers of a column, exact where all are whole, and flag the cells that are any.

    >>> _whole_or_real(pl.Series(["1392388200123456789", "NA"]), NumberFormat())
    (array([1392388200123456789, 0]), array([ True, False]))
    """
    if cells.dtype.is_integer():
        whole = cells.cast(pl.Int64, strict=False)
    elif cells.dtype == pl.String:
        bare = cells.str.strip_chars()
        whole = bare.set(is_missing(cells), None).cast(pl.Int64, strict=False)
    else:
        whole = pl.Series([None] * len(cells), dtype=pl.Int64)
    real = parse_numbers(cells, number_format).values
    present = ~np.isnan(real)
    if present.any() and (whole.is_not_null().to_numpy() == present).all():
        return whole.fill_null(0).to_numpy(), present
    return real, present


def _read_written(table: RawTable, column: int, cells: pl.Series, form: Format) -> Times:
    """Read timestamps of text that must all have one format."""
    name, regex = form
    absent, fits = _find_missing_and_fitting(cells, regex)
    if (wrong := ~fits & ~absent).any():
        row, first = int(wrong.argmax()), cells[int(fits.argmax())]
        other = detect_format(cells[row : row + 1], digits=True) is not None
        reason = f"is written differently from {first!r}" if other else "is not a time"
        raise _unreadable(table, column, row, reason)
    order: dict[str, str] = {}
    if "<one>" in regex:
        day_first = _day_is_first(table, column, cells, regex, int(fits.argmax()))
        name = "day, month, year" if day_first else "month, day, year"
        order = DAY_FIRST if day_first else MONTH_FIRST
    blocks = [parse_block(block, regex, order) for block in split_blocks(cells)]
    parsed = ParsedBlock(*(np.concatenate(arrays) for arrays in zip(*blocks, strict=True)))
    if (wrong := ~parsed.valid & ~absent).any():
        reason = f"is not a valid time between the years {YEARS[0]} and {YEARS[1]}"
        raise _unreadable(table, column, int(wrong.argmax()), reason)
    zoned = _are_zoned(table, column, parsed, ~absent)
    return Times(as_datetimes(parsed.nanoseconds, ~absent), name, zoned)


def _find_missing_and_fitting(cells: pl.Series, regex: str) -> tuple[Flags, Flags]:
    """Flag the missing cells, and the cells that have the format."""
    missing, fitting = [], []
    for block in split_blocks(cells):
        missing.append(is_missing(block).to_numpy())
        fits = block.str.strip_chars().str.contains(regex).fill_null(False)
        fitting.append(fits.to_numpy())
    return np.concatenate(missing), np.concatenate(fitting)


def _are_zoned(table: RawTable, column: int, parsed: ParsedBlock, present: Flags) -> bool:
    """Whether the times have a zone: all of them, or none; a mixture is refused."""
    with_zone, without = parsed.zoned & present, ~parsed.zoned & present
    if with_zone.any() and without.any():
        other = table.columns[column][int(with_zone.argmax())]
        reason = f"has no zone, but {other!r} has one"
        raise _unreadable(table, column, int(without.argmax()), reason)
    if with_zone.any():
        offsets = np.unique(parsed.offset[present])
        if offsets.any():
            zones = ", ".join(map(_zone_text, offsets.tolist()))
            table.notes.append(f"Times in zone {zones} were converted to UTC.")
    return bool(with_zone.any())


def _zone_text(offset: int) -> str:
    """Write an offset in seconds as +01:00."""
    minutes, seconds = divmod(abs(offset), 60)
    text = f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    return f"{text}:{seconds:02}" if seconds else text


def _day_is_first(table: RawTable, column: int, cells: pl.Series, regex: str, first: int) -> bool:
    """Whether 01/02/2014 is the first of February: one row must settle it."""
    needed_groups = re.sub(r"\(\?P<(?!one|two|mark)[a-z]+>", "(?:", regex)
    parts = cells.str.strip_chars().str.extract_groups(needed_groups).struct.unnest()
    one, two = (parts[name].cast(pl.Int64).fill_null(0).to_numpy() for name in ("one", "two"))
    order = day_is_first(one, two, dots=bool((parts["mark"] == ".").all()))
    if order is None:
        reason = "may have the day or the month first, and no row settles it"
        raise _unreadable(table, column, first, reason)
    if isinstance(order, tuple):
        reason = f"has the day second, but {cells[order[0]]!r} has it first"
        raise _unreadable(table, column, order[1], reason)
    return order


def _unreadable(table: RawTable, column: int, row: int, reason: str) -> ValueError:
    cell = str(table.columns[column][row])
    return ValueError(
        f"{table.path}, {table.line_of(row)}: {cell!r} in the time column "
        f"{table.names[column]} {reason}.\n"
        f"  {EXAMPLES} are understood; write all rows in one of these formats."
    )
