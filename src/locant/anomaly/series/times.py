"""A column as times: datetime64[ns], in UTC where a zone is known, or plain numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from locant.anomaly.series.cells import Marks, missing
from locant.anomaly.series.dates import YEARS, assemble
from locant.anomaly.series.epochs import moments, unit, whole_or_real
from locant.anomaly.series.raw import Raw
from locant.anomaly.series.stamps import DIGITS, PATTERNS, family
from locant.anomaly.series.written import Times, dated, read_written, unread


def read_times(raw: Raw, place: int, marks: Marks) -> Times:
    """The times in a column, in whatever way they are written.

    >>> raw = Raw("a.csv", "CSV", ["time"], [pl.Series(["14.02.2014 14:30", ""])], np.array([2, 3]))
    >>> read_times(raw, 0, Marks()).values
    array(['2014-02-14T14:30:00.000000000',                           'NaT'], dtype='datetime64[ns]')
    """
    cells = raw.columns[place]
    if cells.dtype in (pl.Date, pl.Datetime):
        return _typed(raw, place)
    written = None
    if cells.dtype == pl.String or cells.dtype.is_integer():
        cells = cells.cast(pl.String)
        written = family(cells, digits=True)
    if written is not None and (written != DIGITS or _plausible(cells)):
        return read_written(raw, place, cells, written)
    values, present = whole_or_real(raw.columns[place], marks)
    wrong = (
        ~present & ~missing(cells).to_numpy()
        if cells.dtype == pl.String
        else np.zeros(len(cells), np.bool_)
    )
    if wrong.any():
        raise ValueError(unread(raw, place, int(wrong.argmax()), "is no time"))
    if (ticks := unit(values[present])) is None:
        return Times(np.where(present, values.astype(np.float64), np.nan), "plain numbers")
    return Times(dated(moments(values, ticks), present), f"{ticks} since 1970", zoned=True)


def _typed(raw: Raw, place: int) -> Times:
    """A column of Parquet that already holds times."""
    cells = raw.columns[place]
    zone = getattr(cells.dtype, "time_zone", None)
    if zone not in (None, "UTC"):
        raw.said.append(f"Times in zone {zone} were turned into UTC.")
    years = cells.dt.year()
    if (wrong := ((years < YEARS[0]) | (years > YEARS[1])).fill_null(False)).any():
        raise ValueError(
            unread(raw, place, int(wrong.arg_max() or 0), f"is not from {YEARS[0]} to {YEARS[1]}")
        )
    exact = (
        cells.cast(pl.Datetime("ns"))
        if zone is None
        else cells.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    )
    return Times(exact.cast(pl.Datetime("ns")).to_numpy(), "dates", zoned=zone is not None)


def _plausible(cells: pl.Series) -> bool:
    """Whether all digits are dates of 1900..2099, so that 20140214 is one and 10203040 is a number."""
    bare = cells.filter(~missing(cells)).str.strip_chars()
    parts = bare.str.extract_groups(PATTERNS[DIGITS].regex).struct.unnest()
    return bool(assemble(parts).valid.all() and bare.str.contains("^(?:19|20)").all())
