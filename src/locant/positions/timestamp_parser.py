r"""Parse timestamps: from their written parts to seconds since 1970; both doors use this file.

`locant.positions.timestamps` parses a list of texts with `re`; `locant.anomaly.series` extracts the
parts of whole columns with polars. The arithmetic takes integers and arrays alike, so that both get
the same numbers. This file imports neither torch nor polars.

>>> parse("2014-02-14T14:30:00.5+01:00", FORMATS[0])
ParsedTimes(seconds=1392384600, nanoseconds=500000000, valid=True, zoned=True, offset=3600)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.positions.timestamp_formats import (
    DAY_FIRST,
    DIGITS,
    EPOCH_TICKS,
    EXAMPLES,
    FORMATS,
    MONTH_FIRST,
    PM,
    Format,
    day_is_first,
    epoch_unit,
    half_number,
    month_number,
    zone_offset,
)

PLAIN_ISO = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?"
)
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
TWO_NUMBERS = FORMATS[1]
Unit = Literal["s", "ms", "us", "ns"]
MAX_SECONDS_OF_NS = 2**63 // 10**9  # seconds from 1970 that 64 bits of nanoseconds reach
PLAIN_PARTS = ("year", "month", "day", "hour", "minute", "second")


class Parts(NamedTuple):
    """The parts of a timestamp as integers, or those of a column as arrays (T)."""

    year: Any
    month: Any = 1
    day: Any = 1
    hour: Any = 0
    minute: Any = 0
    second: Any = 0
    nanoseconds: Any = 0
    half: Any = 0  # AM, PM, or 0 for a clock of 24 hours
    zoned: Any = False
    offset: Any = 0  # seconds that the written zone is ahead of UTC


class ParsedTimes(NamedTuple):
    """A timestamp as integers, or a column of them as arrays (T)."""

    seconds: Any  # since 1970: in UTC where a zone is written, else on the written clock
    nanoseconds: Any  # of the second
    valid: Any  # False for a 30th of February, or an hour 25
    zoned: Any
    offset: Any  # seconds that the written zone is ahead of UTC


def assemble(parts: Parts) -> ParsedTimes:
    """Convert the parts of timestamps to seconds since 1970.

    >>> assemble(Parts(year=2014, month=2, day=14, hour=1, offset=3600)).seconds
    1392336000
    """
    year, month, day, hour, half = parts.year, parts.month, parts.day, parts.hour, parts.half
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last_day = 31 - (month - 1) % 7 % 2 - (month == 2) * (2 - leap * 1)
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (day <= last_day)
    valid &= (half == 0) | ((hour >= 1) & (hour <= 12))
    valid &= (hour < 24) & (parts.minute < 60) & (parts.second < 60)
    hour = hour - 12 * ((half > 0) & (hour == 12)) + 12 * (half == PM)
    clock = (hour * 60 + parts.minute) * 60 + parts.second
    seconds = _days_since_1970(year, month, day) * 86400 + clock - parts.offset
    return ParsedTimes(seconds, parts.nanoseconds, valid, parts.zoned, parts.offset)


def parse(text: str, form: Format, *, day_first: bool = False) -> ParsedTimes | None:
    """Parse one timestamp that is written in a format; None when it is written differently.

    >>> parse("14/02/2014", FORMATS[1], day_first=True) == parse("20140214", DIGITS)
    True
    """
    found = _match(text, form)
    return None if found is None else _convert(found, day_first=day_first)


def parse_all(texts: Sequence[str]) -> NDArray[np.datetime64]:
    """Parse timestamps that may each be written in a format of its own, in UTC where a zone is.

    The result has the resolution of the finest timestamp. Texts of digits alone are dates, or times
    since 1970, only when all texts are.

    >>> parse_all(["14/02/2014 12:00", "1 March 2014"])
    array(['2014-02-14T12:00:00', '2014-03-01T00:00:00'], dtype='datetime64[s]')
    """
    bare = [text.strip() for text in texts]
    if all(map(PLAIN_ISO.fullmatch, bare)):
        with suppress(ValueError):  # an impossible date, which is named below
            return np.array(bare, dtype="datetime64")  # the same numbers, five times as fast
    numeric = all(map(NUMBER.fullmatch, bare))
    if numeric and not all(map(is_plausible_date, bare)):
        values = np.array([int(text) if text.isdecimal() else float(text) for text in bare])
        unit = epoch_unit(values)
        if unit is not None:
            return epoch_nanoseconds(values, unit).astype("datetime64[ns]")
        return np.array([_parse_otherwise(text) for text in bare], dtype="datetime64")
    day_first = _day_is_first(bare)
    return np.array([_parse_any(text, day_first) for text in bare], dtype="datetime64")


def is_plausible_date(text: str) -> bool:
    """Whether digits are a date of 1900..2099: 20140214 is a date, 10203040 is a number."""
    parsed = parse(text, DIGITS) if text.startswith(("19", "20")) else None
    return parsed is not None and bool(parsed.valid)


def epoch_nanoseconds(values: NDArray[Any], unit: str) -> NDArray[np.int64]:
    """Convert times since 1970 to nanoseconds, exactly for whole numbers.

    >>> epoch_nanoseconds(np.array([1392388200.25]), "seconds")
    array([1392388200250000000])
    """
    scale = 10**9 // EPOCH_TICKS[unit]
    if values.dtype.kind == "i":
        return values.astype(np.int64) * scale
    whole = np.floor(values)
    part = (values - whole) * scale
    if scale > 1000:
        part = np.round(part / 1000) * 1000  # to a microsecond, which float64 has here
    return whole.astype(np.int64) * scale + part.astype(np.int64)


def _days_since_1970(year: Any, month: Any, day: Any) -> Any:
    """Count the days since 1970, by years that start in March so that leap days come last."""
    early = month <= 2
    year = year - early
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + 12 * early - 3) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@cache
def _compiled(form: Format) -> re.Pattern[str]:
    return re.compile(form.regex)


def _match(text: str, form: Format) -> re.Match[str] | None:
    return _compiled(form).match(text.strip())


def _convert(found: re.Match[str], *, day_first: bool) -> ParsedTimes:
    """Assemble the parts that one text was found to have."""
    written = {name: part for name, part in found.groupdict().items() if part}
    if "one" in written:
        names = DAY_FIRST if day_first else MONTH_FIRST
        written |= {names["one"]: written["one"], names["two"]: written["two"]}
    parts: dict[str, int] = {name: int(written[name]) for name in PLAIN_PARTS if name in written}
    if "name" in written:
        parts["month"] = month_number(written["name"])
    if "half" in written:
        parts["half"] = half_number(written["half"])
    if "fraction" in written:
        parts["nanoseconds"] = int(written["fraction"].ljust(9, "0"))
    if "zone" in written:
        parts["zoned"] = True
        parts["offset"] = zone_offset(written["zone"])
    return assemble(Parts(**parts))


def _parse_any(text: str, day_first: bool) -> np.datetime64:
    """Parse one timestamp by the first format that it has."""
    for form in FORMATS:
        found = _match(text, form)
        if found is None:
            continue
        parsed = _convert(found, day_first=day_first)
        if not parsed.valid:
            raise _unreadable(text)
        unit, ticks = _resolution(found, parsed)
        since_1970: int = parsed.seconds * ticks + parsed.nanoseconds * ticks // 10**9
        return np.datetime64(since_1970, unit)
    return _parse_otherwise(text)


def _resolution(found: re.Match[str], parsed: ParsedTimes) -> tuple[Unit, int]:
    """Return the unit that holds all digits of a timestamp, and its ticks a second."""
    fraction = found["fraction"] if "fraction" in found.re.groupindex else None
    digits = len(fraction or "")
    if digits > 6 and abs(parsed.seconds) < MAX_SECONDS_OF_NS:
        return "ns", 10**9
    if digits > 3 or parsed.zoned:
        return "us", 10**6
    return ("ms", 10**3) if digits else ("s", 1)


def _parse_otherwise(text: str) -> np.datetime64:
    """Parse what only numpy or Python read: years alone, years of five digits, ISO weeks."""
    try:
        if text.endswith("Z") or "+" in text or text.count("-") > 2:
            parsed = datetime.fromisoformat(text)
            if parsed.tzinfo is not None:
                parsed = parsed.astimezone(UTC).replace(tzinfo=None)
            return np.datetime64(parsed)
        return np.datetime64(text)
    except (ValueError, OverflowError):
        raise _unreadable(text) from None


def _day_is_first(texts: Sequence[str]) -> bool:
    """Decide which of two numbers is the day, or refuse texts that leave it open."""
    matches = [(text, found) for text in texts if (found := _match(text, TWO_NUMBERS))]
    if not matches:
        return False
    one = np.array([int(found["one"]) for _, found in matches])
    two = np.array([int(found["two"]) for _, found in matches])
    order = day_is_first(one, two, dots=all(found["mark"] == "." for _, found in matches))
    if order is None:
        raise ValueError(
            f"{matches[0][0]!r} may have the day or the month first, and no timestamp settles it.\n"
            "  Write the year first: 2014-02-14."
        )
    if isinstance(order, tuple):
        first, second = (matches[index][0] for index in order)
        raise ValueError(
            f"{second!r} has the day second, but {first!r} has it first. Write all in one order."
        )
    return order


def _unreadable(text: str) -> ValueError:
    return ValueError(
        f"{text!r} could not be read as a timestamp. ISO 8601 and other formats are understood:\n"
        f"  {EXAMPLES}."
    )
