r"""Written times: which ways of writing there are, and what each part of a stamp is.

    date [clock [zone]],      date = 2014-02-14 | 14/02/2014 | 14 Feb 2014 | Feb 14, 2014 | 20140214

>>> cells = pl.Series(["2014-02-14T14:30:00.5Z", "2014-02-14 15:00"])
>>> PATTERNS[family(cells)].name, is_dated(pl.Series(["14:30"]))
('ISO 8601', False)
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from locant.anomaly.series.cells import missing

SAMPLE = 1000  # cells that are looked at before a whole column is
CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9})[0-9]*)?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
ZONE = r"(?:\s?(?P<zone>[Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)(?:\[[A-Za-z0-9_/+-]+\])?)?"
CLOCK_ALONE = rf"^{CLOCK}{ZONE}$"
WEEKDAY = r"(?:[A-Za-z]{3,9},?\s+)?"


class Pattern(NamedTuple):
    """One way of writing times."""

    name: str
    regex: str


PATTERNS = [
    Pattern(
        "ISO 8601",
        rf"^(?P<year>[0-9]{{4}})[-/.](?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}})(?:[T ]+{CLOCK}{ZONE})?$",
    ),
    Pattern(
        "two numbers and a year",  # which of them is the day, dates.py decides
        rf"^(?P<one>[0-9]{{1,2}})(?P<mark>[-/.])(?P<two>[0-9]{{1,2}})[-/.](?P<year>[0-9]{{4}})(?:[T ,]+{CLOCK}{ZONE})?$",
    ),
    Pattern(
        "day, month by name, year",
        rf"^{WEEKDAY}(?P<day>[0-9]{{1,2}})[ /-](?P<name>[A-Za-z]{{3,9}})\.?,?[ /-](?P<year>[0-9]{{4}})"
        rf"(?:[T ,:]+{CLOCK}{ZONE})?$",
    ),
    Pattern(
        "month by name, day, year",
        rf"^{WEEKDAY}(?P<name>[A-Za-z]{{3,9}})\.? (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<year>[0-9]{{4}})"
        rf"(?:[T ,]+{CLOCK}{ZONE})?$",
    ),
    Pattern("year-month", r"^(?P<year>(?:19|20)[0-9]{2})[-/](?P<month>[0-9]{1,2})$"),
    Pattern(
        "digits of ISO 8601",
        r"^(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})"
        r"(?:[T ]?(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?P<second>[0-9]{2})?(?:[.,](?P<fraction>[0-9]{1,9})[0-9]*)?"
        rf"{ZONE})?$",
    ),
]
DIGITS = (
    len(PATTERNS) - 1
)  # pure digits may also be a number: only asked for where a time is expected


def family(cells: pl.Series, *, digits: bool = False) -> int | None:
    """The place in PATTERNS of the way in which most of the first cells are written, or None."""
    shown = _first(cells)
    counts = [int(shown.str.contains(pattern.regex).sum()) for pattern in PATTERNS]
    if not digits and not shown.str.contains("[T ]").any():
        counts[DIGITS] = 0
    best = max(counts)
    if not best or 2 * best < len(shown):
        return None
    equal = [
        place for place, count in enumerate(counts) if count == best
    ]  # then the first cell decides
    return next(
        (place for place in equal if shown.head(1).str.contains(PATTERNS[place].regex).all()),
        equal[0],
    )


def is_dated(cells: pl.Series) -> bool:
    """Whether a column holds dates, with or without a clock."""
    return cells.dtype in (pl.Date, pl.Datetime) or (
        cells.dtype == pl.String and family(cells) is not None
    )


def has_clock(cells: pl.Series) -> bool:
    """Whether the first dates of a column say the time of day."""
    return bool(_first(cells).str.contains("[0-9]:[0-9]{2}|T[0-9]{2}").any())


def is_clock(cells: pl.Series) -> bool:
    """Whether a column holds times of day alone."""
    return cells.dtype == pl.String and bool(
        len(_first(cells)) and _first(cells).str.contains(CLOCK_ALONE).all()
    )


def _first(cells: pl.Series) -> pl.Series:
    """The first cells that say something."""
    near = cells.head(20 * SAMPLE)
    return near.filter(~missing(near)).head(SAMPLE).str.strip_chars()
