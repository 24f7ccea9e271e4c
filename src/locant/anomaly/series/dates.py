r"""From the parts of a written time to nanoseconds since 1970, in UTC where a zone is written.

14/02/2014 has the day first, because there is no 14th month; 01/02/2014 needs another row that settles it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.raw import Flags, Whole

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
YEARS = (1678, 2261)  # what 64 bits of nanoseconds hold
SECOND = 10**9


class Moments(NamedTuple):
    """Written times as numbers, (T,) each."""

    nanoseconds: Whole
    valid: Flags  # not so for a 30th of February, or an hour 25
    zoned: Flags
    offset: Whole  # minutes that the written zone is ahead of UTC


def assemble(parts: pl.DataFrame) -> Moments:
    """The moment that each row of parts names; a part that is not written is its least.

    >>> assemble(pl.DataFrame({"year": ["2014"], "month": ["2"], "day": ["14"], "hour": ["1"], "zone": ["+01:00"]}))[0]
    array([1392336000000000000])
    """
    year, month, day = _whole(parts, "year"), _month(parts), _whole(parts, "day", least=1)
    hour, minute, second = _hour(parts), _whole(parts, "minute"), _whole(parts, "second")
    fraction = (
        _whole(parts.with_columns(pl.col("fraction").str.pad_end(9, "0")), "fraction")
        if "fraction" in parts
        else 0
    )
    sane = (YEARS[0] <= year) & (year <= YEARS[1]) & (month >= 1) & (month <= 12)
    first = (np.where(sane, (year - 1970) * 12 + month - 1, 0)).astype("datetime64[M]")
    lasts = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(
        np.int64
    )  # days of the month
    valid = (
        sane
        & (day >= 1)
        & (day <= lasts)
        & (hour >= 0)
        & (hour < 24)
        & (minute < 60)
        & (second < 60)
    )
    offset = _offset(parts)
    days = first.astype("datetime64[D]").astype(np.int64) + np.where(valid, day, 1) - 1
    clock = (np.where(valid, hour * 60 + minute, 0) - offset) * 60 + np.where(valid, second, 0)
    zoned = (
        parts["zone"].is_not_null().to_numpy()
        if "zone" in parts
        else np.zeros(len(parts), np.bool_)
    )
    return Moments((days * 86400 + clock) * SECOND + fraction, valid, zoned, offset)


def day_first(parts: pl.DataFrame) -> tuple[int, int] | bool | None:
    """Whether day/month/year is written: True, False, None when no row settles it; two rows when they disagree.

    >>> day_first(pl.DataFrame({"one": ["1", "14"], "two": ["2", "2"], "mark": ["/", "/"]}))
    True
    """
    days, months = _whole(parts, "one") > 12, _whole(parts, "two") > 12
    if days.any() and months.any():
        return int(days.argmax()), int(months.argmax())
    if days.any() or months.any():
        return bool(days.any())
    return (
        True if (parts["mark"] == ".").all() else None
    )  # with dots the day is first wherever dots are in use


def _whole(parts: pl.DataFrame, key: str, least: int = 0) -> Whole:
    if key not in parts:
        return np.full(len(parts), least, np.int64)
    return parts[key].cast(pl.Int64, strict=False).fill_null(0).to_numpy()


def _month(parts: pl.DataFrame) -> Whole:
    if "name" not in parts:
        return _whole(parts, "month")
    short = parts["name"].str.slice(0, 3).str.to_lowercase()
    return (
        short.replace_strict(MONTHS, range(1, 13), default=0, return_dtype=pl.Int64)
        .fill_null(0)
        .to_numpy()
    )


def _hour(parts: pl.DataFrame) -> Whole:
    """The hour of 24; an impossible one, such as 13 p.m., is −1."""
    hour = _whole(parts, "hour")
    if "half" not in parts or parts["half"].null_count() == len(parts):
        return hour
    halved, late = (
        parts["half"].is_not_null().to_numpy(),
        (parts["half"].str.to_lowercase() == "p").fill_null(False),
    )
    of_24 = np.where((hour >= 1) & (hour <= 12), hour % 12 + 12 * late.to_numpy(), -1)
    return np.where(halved, of_24, hour)


def _offset(parts: pl.DataFrame) -> Whole:
    if "zone" not in parts or parts["zone"].null_count() == len(parts):
        return np.zeros(len(parts), np.int64)
    found = (
        parts["zone"]
        .str.extract_groups(r"^(?P<sign>[+-])(?P<hours>[0-9]{2}):?(?P<minutes>[0-9]{2})?$")
        .struct.unnest()
    )
    minutes = _whole(found, "hours") * 60 + _whole(found, "minutes")
    return np.where((found["sign"] == "-").fill_null(False).to_numpy(), -minutes, minutes)
