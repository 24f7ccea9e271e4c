"""Written times: every cell of a column in one way, with a zone in all of them or in none."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from locant.anomaly.series.cells import blocks, missing
from locant.anomaly.series.dates import YEARS, Moments, assemble, day_first
from locant.anomaly.series.raw import Flags, Raw
from locant.anomaly.series.stamps import PATTERNS, family

UNDERSTOOD = (
    "2014-02-14T14:30:00Z, 14/02/2014 14:30, 14 Feb 2014 and seconds since 1970 are understood"
)
DAY_FIRST, MONTH_FIRST = {"one": "day", "two": "month"}, {"one": "month", "two": "day"}


class Times(NamedTuple):
    """The times of the rows, (T,), and how they were written."""

    values: NDArray[Any]  # datetime64[ns] or float64; NaT or NaN where there is none
    how: str
    zoned: bool = False

    @property
    def dated(self) -> bool:
        """Whether these are dates and not plain numbers."""
        return self.values.dtype.kind == "M"


def read_written(raw: Raw, place: int, cells: pl.Series, written: int) -> Times:
    """The times in a column of text, when all are written in the way that this place in PATTERNS names."""
    how, regex = PATTERNS[written]
    absent = np.concatenate([missing(part).to_numpy() for part in blocks(cells)])
    fits = np.concatenate(
        [_bare(part).str.contains(regex).fill_null(False).to_numpy() for part in blocks(cells)]
    )
    if (wrong := ~fits & ~absent).any():
        first, row = int(fits.argmax()), int(wrong.argmax())
        other = family(cells[row : row + 1], digits=True) is not None
        raise ValueError(
            unread(
                raw, place, row, f"is written unlike {cells[first]!r}" if other else "is no time"
            )
        )
    order: dict[str, str] = {}
    if "<one>" in regex:
        day = _day_first(raw, place, cells, regex, int(fits.argmax()))
        how, order = ("day, month, year", DAY_FIRST) if day else ("month, day, year", MONTH_FIRST)
    found = _in_blocks(cells, regex, order)
    if (wrong := ~found.valid & ~absent).any():
        why = f"names no moment from {YEARS[0]} to {YEARS[1]}"
        raise ValueError(unread(raw, place, int(wrong.argmax()), why))
    zoned = _zoned(raw, place, found, ~absent)
    return Times(dated(found.nanoseconds, ~absent), how, zoned)


def _in_blocks(cells: pl.Series, regex: str, order: dict[str, str]) -> Moments:
    """The moments of all cells, some at a time: their parts as text would take much memory."""
    parts = (
        _bare(part).str.extract_groups(regex).struct.unnest().rename(order)
        for part in blocks(cells)
    )
    return Moments(*map(np.concatenate, zip(*map(assemble, parts), strict=True)))


def _zoned(raw: Raw, place: int, found: Moments, present: Flags) -> bool:
    """Whether the times have a zone: all of them, or none."""
    with_zone, without = found.zoned & present, ~found.zoned & present
    if with_zone.any() and without.any():
        row, other = int(without.argmax()), int(with_zone.argmax())
        raise ValueError(
            unread(raw, place, row, f"has no zone, but {raw.columns[place][other]!r} has one")
        )
    if with_zone.any() and (offsets := np.unique(found.offset[present])).any():
        zones = ", ".join(
            f"{'-' if m < 0 else '+'}{abs(m) // 60:02}:{abs(m) % 60:02}" for m in offsets.tolist()
        )
        raw.said.append(f"Times in zone {zones} were turned into UTC.")
    return bool(with_zone.any())


def _day_first(raw: Raw, place: int, cells: pl.Series, regex: str, first: int) -> bool:
    """Whether 01/02/2014 is the first of February: one row must settle it."""
    number = re.compile(r"\(\?P<(?!one|two|mark)[a-z]+>").sub(
        "(?:", regex
    )  # the three parts that are asked for, alone
    found = day_first(_bare(cells).str.extract_groups(number).struct.unnest())
    if found is None:
        raise ValueError(
            unread(raw, place, first, "may have the day or the month first, and no row settles it")
        )
    if isinstance(found, tuple):
        why = f"has the day second, but {cells[found[0]]!r} has it first"
        raise ValueError(unread(raw, place, found[1], why))
    return found


def _bare(cells: pl.Series) -> pl.Series:
    return cells.str.strip_chars()


def dated(nanoseconds: NDArray[np.int64], present: Flags) -> NDArray[Any]:
    """Nanoseconds since 1970 as datetime64, NaT where none is present."""
    return np.where(present, nanoseconds.astype("datetime64[ns]"), np.datetime64("NaT", "ns"))


def unread(raw: Raw, place: int, row: int, why: str) -> str:
    """What to tell about a time that cannot be read."""
    cell = raw.columns[place][row]
    return (
        f"{raw.path}, {raw.where(row)}: {str(cell)!r} in the time column {raw.names[place]} {why}.\n"
        f"  {UNDERSTOOD}; write all rows in one of these ways."
    )
