r"""Describe how timestamps are written: formats, months, halves of the day, zones, epochs.

    date [clock [zone]],     date = 2014-02-14 | 14/02/2014 | 14 Feb 2014 | Feb 14, 2014 | 20140214

`timestamp_parser` converts timestamps that are written so to seconds since 1970.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SECONDS = r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9})[0-9]*)?)?"
HALF = r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
CLOCK = rf"(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}}){SECONDS}{HALF}"
HOUR_OR_CLOCK = rf"(?P<hour>[0-9]{{1,2}})(?::(?P<minute>[0-9]{{2}}){SECONDS})?{HALF}"
ZONE = (
    r"(?:\s?(?P<zone>[Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)"
    r"(?:\[[A-Za-z0-9_/+-]+\])?)?"
)
CLOCK_ALONE = rf"^{CLOCK}{ZONE}$"
WEEKDAY = r"(?:[A-Za-z]{3,9},?\s+)?"
YEAR = r"(?P<year>[0-9]{4})"
MONTH_NAME = r"(?P<name>[A-Za-z]{3,9})"


class Format(NamedTuple):
    """One way of writing timestamps; its named groups are the parts of a timestamp."""

    name: str
    regex: str


DIGITS = Format(  # digits alone may also be a number
    "digits of ISO 8601",
    rf"^{YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})"
    r"(?:[T ]?(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?P<second>[0-9]{2})?"
    rf"(?:[.,](?P<fraction>[0-9]{{1,9}})[0-9]*)?{ZONE})?$",
)
FORMATS = (
    Format(
        "ISO 8601",
        rf"^{YEAR}[-/.](?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}})"
        rf"(?:[T ]+{HOUR_OR_CLOCK}{ZONE})?$",
    ),
    Format(
        "two numbers and a year",  # `day_is_first` decides which of the two is the day
        rf"^(?P<one>[0-9]{{1,2}})(?P<mark>[-/.])(?P<two>[0-9]{{1,2}})[-/.]{YEAR}"
        rf"(?:[T ,]+{CLOCK}{ZONE})?$",
    ),
    Format(
        "day, month by name, year",
        rf"^{WEEKDAY}(?P<day>[0-9]{{1,2}})[ /-]{MONTH_NAME}\.?,?[ /-]{YEAR}"
        rf"(?:[T ,:]+{CLOCK}{ZONE})?$",
    ),
    Format(
        "month by name, day, year",
        rf"^{WEEKDAY}{MONTH_NAME}\.? (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? {YEAR}"
        rf"(?:[T ,]+{CLOCK}{ZONE})?$",
    ),
    Format("year-month", r"^(?P<year>(?:19|20)[0-9]{2})[-/](?P<month>[0-9]{1,2})$"),
    DIGITS,
)
EXAMPLES = "2014-02-14T14:30:00Z, 14/02/2014 14:30, 14 Feb 2014 and seconds since 1970"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})?:?([0-9]{2})?")
DAY_FIRST = {"one": "day", "two": "month"}
MONTH_FIRST = {"one": "month", "two": "day"}
AM, PM = 1, 2
EPOCH_TICKS = {  # ticks a second
    "seconds": 1,
    "milliseconds": 10**3,
    "microseconds": 10**6,
    "nanoseconds": 10**9,
}
FIRST_EPOCH, LAST_EPOCH = 631_152_000, 4_102_444_800  # 1990-01-01 and 2100-01-01, in seconds


def month_number(name: str) -> int:
    """Return the number of a month's English name, of which three letters count; 0 for no month."""
    short = name[:3].lower()
    return MONTHS.index(short) + 1 if short in MONTHS else 0


def half_number(letter: str) -> int:
    """Return AM or PM for the first letter of a.m. or p.m."""
    return PM if letter in "pP" else AM


@lru_cache(maxsize=1000)
def zone_offset(zone: str) -> int:
    """Return the seconds that a written zone is ahead of UTC.

    >>> zone_offset("Z"), zone_offset("+01:30"), zone_offset("-08")
    (0, 5400, -28800)
    """
    found = OFFSET.fullmatch(zone)
    if found is None:
        return 0
    ahead = (int(found[2]) * 60 + int(found[3] or 0)) * 60 + int(found[4] or 0)
    return -ahead if found[1] == "-" else ahead


def day_is_first(
    one: NDArray[np.int64], two: NDArray[np.int64], *, dots: bool
) -> tuple[int, int] | bool | None:
    """Decide whether day/month/year is written, from the first two numbers of all timestamps.

    None when no timestamp settles it; two indices when two timestamps disagree.

    >>> day_is_first(np.array([1, 14]), np.array([2, 2]), dots=False)
    True
    """
    days, months = one > 12, two > 12
    if days.any() and months.any():
        return int(days.argmax()), int(months.argmax())
    if days.any() or months.any():
        return bool(days.any())
    return True if dots else None  # with dots the day is first wherever dots are in use


def epoch_unit(values: NDArray[Any]) -> str | None:
    """Return the unit in which all numbers are times since 1970, within 1990..2099, or None.

    >>> epoch_unit(np.array([1392388200, 1392388500])), epoch_unit(np.array([1, 2]))
    ('seconds', None)
    """
    if not len(values):
        return None
    low, high = values.min(), values.max()
    for name, ticks in EPOCH_TICKS.items():
        if FIRST_EPOCH * ticks <= low and high < LAST_EPOCH * ticks:
            return name
    return None
