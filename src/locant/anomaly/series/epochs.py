"""Numbers as times: since 1970 in seconds or finer when all of them fall in 1990..2099, otherwise plain numbers."""

from __future__ import annotations

import numpy as np
import polars as pl

from locant.anomaly.series.cells import Marks, missing, numbers
from locant.anomaly.series.raw import Floats, Whole

UNITS = {
    "seconds": 1,
    "milliseconds": 10**3,
    "microseconds": 10**6,
    "nanoseconds": 10**9,
}  # ticks of a second
FIRST, LAST = 631_152_000, 4_102_444_800  # 1990-01-01 and 2100-01-01, in seconds


def whole_or_real(cells: pl.Series, marks: Marks) -> tuple[Whole | Floats, np.ndarray]:
    """The numbers of a column, exact where all are whole, and which cells are numbers.

    >>> whole_or_real(pl.Series(["1392388200123456789", "NA"]), Marks())
    (array([1392388200123456789, 0]), array([ True, False]))
    """
    if cells.dtype.is_integer():
        whole = cells.cast(pl.Int64, strict=False)
    elif cells.dtype == pl.String:
        bare = cells.str.strip_chars()
        whole = bare.set(missing(cells), None).cast(pl.Int64, strict=False)
    else:
        whole = pl.Series([None] * len(cells), dtype=pl.Int64)
    real = numbers(cells, marks).values
    present = ~np.isnan(real)
    if present.any() and (whole.is_not_null().to_numpy() == present).all():
        return whole.fill_null(0).to_numpy(), present
    return real, present


def unit(values: Whole | Floats) -> str | None:
    """The unit of UNITS in which all these numbers are times since 1970, or None.

    >>> unit(np.array([1392388200, 1392388500])), unit(np.array([1, 2]))
    ('seconds', None)
    """
    if not len(values):
        return None
    low, high = values.min(), values.max()
    return next(
        (name for name, ticks in UNITS.items() if FIRST * ticks <= low and high < LAST * ticks),
        None,
    )


def moments(values: Whole | Floats, name: str) -> Whole:
    """Times since 1970 in nanoseconds, exact for whole numbers.

    >>> moments(np.array([1392388200.25]), "seconds")
    array([1392388200250000000])
    """
    scale = 10**9 // UNITS[name]
    if values.dtype.kind == "i":
        return values.astype(np.int64) * scale
    whole = np.floor(values)
    part = (
        np.round((values - whole) * scale / 1000) * 1000
        if scale > 1000
        else (values - whole) * scale
    )
    return whole.astype(np.int64) * scale + part.astype(
        np.int64
    )  # to a microsecond, which float64 has here
