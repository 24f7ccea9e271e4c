"""One written time after another, as a column of them is read, but without its cost: for streams.

What is not plain here is left to `times.py`, which reads it or tells what is wrong with it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import numpy as np

from locant.anomaly.series.dates import YEARS

ZONE = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})?")


def moment(cell: str | None, regex: str, *, day_first: bool, zoned: bool) -> np.datetime64 | None:
    """The time that a cell names, in nanoseconds, or None when it is not plain.

    >>> from locant.anomaly.series.stamps import PATTERNS
    >>> moment("2014-02-14T14:30:00.5+01:00", PATTERNS[0].regex, day_first=False, zoned=True)
    np.datetime64('2014-02-14T13:30:00.500000000')
    """
    found = re.match(regex, (cell or "").strip())
    parts = found.groupdict() if found else {}
    if not found or parts.get("half") or "name" in parts or bool(parts.get("zone")) != zoned:
        return None
    if "one" in parts:
        one, two = ("day", "month") if day_first else ("month", "day")
        parts |= {one: parts["one"], two: parts["two"]}
    hour, minute, second = (int(parts.get(part) or 0) for part in ("hour", "minute", "second"))
    try:
        whole = datetime(
            int(parts["year"]),
            int(parts["month"]),
            int(parts.get("day") or 1),
            hour,
            minute,
            second,
        )
    except ValueError:
        return None
    if not YEARS[0] <= whole.year <= YEARS[1]:
        return None
    fraction = int((parts.get("fraction") or "").ljust(9, "0"))
    return np.datetime64(whole - _ahead(parts.get("zone")), "ns") + np.timedelta64(fraction, "ns")


def _ahead(zone: str | None) -> timedelta:
    """How far a written zone is ahead of UTC."""
    found = ZONE.match(zone or "")
    if not found:
        return timedelta(0)
    apart = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return -apart if found[1] == "-" else apart
