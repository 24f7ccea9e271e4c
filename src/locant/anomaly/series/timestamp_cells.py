"""Apply the timestamp formats to columns of text: detect the format, and parse blocks of cells.

`locant.positions` has the formats and the arithmetic; polars extracts the parts of whole columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.number_format import is_missing
from locant.anomaly.series.raw_table import Flags, Integers
from locant.positions.timestamp_formats import (
    CLOCK_ALONE,
    DIGITS,
    FORMATS,
    Format,
    half_number,
    month_number,
    zone_offset,
)
from locant.positions.timestamp_parser import Parts, assemble

SAMPLE_CELLS = 1000  # cells that decide the format of a column
DATE_AND_HOUR = "^[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2} +[0-9]"
YEARS = (1678, 2261)  # the full years that 64 bits of nanoseconds hold


class ParsedBlock(NamedTuple):
    """Parsed timestamps, (T,) each."""

    nanoseconds: Integers  # since 1970
    valid: Flags
    zoned: Flags
    offset: Integers  # seconds that the written zone is ahead of UTC


def detect_format(cells: pl.Series, *, digits: bool = False) -> Format | None:
    """Return the format of most of the first cells, or None if they are not timestamps.

    Digits alone may also be numbers: they count only with `digits`, where a time is expected.

    >>> detect_format(pl.Series(["2014-02-14T14:30:00.5Z", "2014-02-14 15:00"])).name
    'ISO 8601'
    """
    sample = _sample(cells)
    counts = {form: int(sample.str.contains(form.regex).sum()) for form in FORMATS}
    if not digits and not sample.str.contains("[T ]").any():
        counts[DIGITS] = 0
    most = max(counts.values())
    if not most or 2 * most < len(sample):
        return None
    equal = [form for form, count in counts.items() if count == most]
    for form in equal:  # the first cell decides between formats of equal count
        if sample.head(1).str.contains(form.regex).all():
            return form
    return equal[0]


def is_dated(cells: pl.Series) -> bool:
    """Whether a column holds dates, with or without a time of day."""
    if cells.dtype in (pl.Date, pl.Datetime):
        return True
    return cells.dtype == pl.String and detect_format(cells) is not None


def has_clock(cells: pl.Series) -> bool:
    """Whether the first dates of a column have a time of day."""
    return bool(_sample(cells).str.contains(f"[0-9]:[0-9]{{2}}|T[0-9]{{2}}|{DATE_AND_HOUR}").any())


def is_clock(cells: pl.Series) -> bool:
    """Whether a column holds times of day without dates."""
    if cells.dtype != pl.String:
        return False
    sample = _sample(cells)
    return bool(len(sample) and sample.str.contains(CLOCK_ALONE).all())


def are_plausible_dates(cells: pl.Series) -> bool:
    """Whether all digits are dates of 1900..2099: 20140214 is a date, 10203040 is a number."""
    bare = cells.filter(~is_missing(cells)).str.strip_chars()
    parsed = parse_block(bare, DIGITS.regex, {})
    return bool(parsed.valid.all() and bare.str.contains("^(?:19|20)").all())


def parse_block(cells: pl.Series, regex: str, order: dict[str, str]) -> ParsedBlock:
    """Parse some cells: the parts of a whole column as text would take much memory."""
    groups = cells.str.strip_chars().str.extract_groups(regex).struct.unnest().rename(order)
    zeros = np.zeros(len(cells), np.int64)

    def integers(name: str, default: int = 0) -> Integers:
        if name not in groups:
            return zeros + default
        return groups[name].cast(pl.Int64, strict=False).fill_null(0).to_numpy()

    def words(name: str, meaning: Callable[[str], int]) -> Integers:
        return _map_words(groups[name], meaning) if name in groups else zeros

    if "fraction" in groups:
        groups = groups.with_columns(pl.col("fraction").str.pad_end(9, "0"))
    zoned = zeros > 0
    if "zone" in groups:
        zoned = groups["zone"].is_not_null().to_numpy()
    parts = Parts(
        year=integers("year"),
        month=words("name", month_number) if "name" in groups else integers("month"),
        day=integers("day", default=1),
        hour=integers("hour"),
        minute=integers("minute"),
        second=integers("second"),
        nanoseconds=integers("fraction"),
        half=words("half", half_number),
        zoned=zoned,
        offset=words("zone", zone_offset),
    )
    parsed = assemble(parts)
    valid = parsed.valid & (parts.year >= YEARS[0]) & (parts.year <= YEARS[1])
    nanoseconds = parsed.seconds * 10**9 + parsed.nanoseconds
    return ParsedBlock(nanoseconds, valid, parsed.zoned, parsed.offset)


def _map_words(words: pl.Series, meaning: Callable[[str], int]) -> Integers:
    """Replace each word by its number, and a null by 0; each distinct word is looked up once."""
    distinct = words.unique().drop_nulls().to_list()
    if not distinct:
        return np.zeros(len(words), np.int64)
    numbers = [meaning(word) for word in distinct]
    mapped = words.replace_strict(distinct, numbers, default=0, return_dtype=pl.Int64)
    return mapped.fill_null(0).to_numpy()


def _sample(cells: pl.Series) -> pl.Series:
    """Return the first cells that are not missing."""
    first = cells.head(20 * SAMPLE_CELLS)
    return first.filter(~is_missing(first)).head(SAMPLE_CELLS).str.strip_chars()
