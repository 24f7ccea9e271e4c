"""From stretches of time to rows: which rows lie in a window, both ends included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from locant.anomaly.series.cells import PLAIN, numbers
from locant.anomaly.series.raw import Flags, Raw
from locant.anomaly.series.stamps import has_clock
from locant.anomaly.series.times import read_times
from locant.anomaly.series.windows import Pairs
from locant.anomaly.series.written import Times

Spans = tuple[tuple[int, int], ...]
DAY = np.timedelta64(86400 * 10**9 - 1, "ns")


def mark(
    pairs: Pairs, path: str | Path, times: Times | None, rows: int, said: list[str]
) -> tuple[Flags, Spans]:
    """Labels (T,), and each window that holds rows as a half-open interval of them.

    >>> mark([("1", "2"), ("9", "9")], "windows.json", None, 5, said := [])
    (array([False,  True,  True, False, False]), ((1, 3),))
    >>> said[-1]
    'Window [9, 9] holds no row of the series: left out.'
    """
    labels = np.zeros(rows, np.bool_)
    if not pairs:
        said.append(f"{path} names no window for this series: all rows are labelled normal.")
        return labels, ()
    starts, ends = (
        _numbered(pairs, path, said) if times is None else _timed(pairs, path, times, said)
    )
    for pair, start, end in zip(pairs, starts, ends, strict=True):
        if start > end:
            raise ValueError(
                f"{path}: the window [{', '.join(pair)}] ends before it starts. Write [start, end]."
            )
    at = np.arange(rows) if times is None else times.values
    bounds = zip(
        np.searchsorted(at, starts, "left").tolist(),
        np.searchsorted(at, ends, "right").tolist(),
        strict=True,
    )
    held = dict(zip(range(len(pairs)), bounds, strict=True))
    empty = [pairs[number] for number, (start, stop) in held.items() if start == stop]
    if len(empty) == len(pairs):
        raise ValueError(
            f"{path}: no window holds a row of the series, which runs from {_shown(at[0])} to {_shown(at[-1])}; "
            f"the first window is [{', '.join(pairs[0])}].\n  Give the windows of this series, in its own times."
        )
    said += [f"Window [{', '.join(pair)}] holds no row of the series: left out." for pair in empty]
    spans = tuple((start, stop) for start, stop in held.values() if start < stop)
    for start, stop in spans:
        labels[start:stop] = True
    return labels, spans


def _timed(
    pairs: Pairs, path: str | Path, times: Times, said: list[str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    cells = pl.Series([end for pair in pairs for end in pair], dtype=pl.String)
    places = np.repeat(np.arange(1, len(pairs) + 1), 2)
    read = read_times(
        Raw(str(path), "windows", ["[start, end]"], [cells], places, "window", said=said), 0, PLAIN
    )
    if read.dated != times.dated:
        raise ValueError(
            f"{path}: the windows are {read.how}, such as {cells[0]!r}, but the times of the series are {times.how}.\n"
            "  Write the windows like the times of the series."
        )
    if read.zoned != times.zoned:
        zoned, other = (
            ("windows", "times of the series") if read.zoned else ("times of the series", "windows")
        )
        said.append(f"The {zoned} have a zone, the {other} none: all were taken as UTC.")
    starts, ends = read.values[::2], read.values[1::2]
    if read.dated and not read.zoned and not has_clock(cells):
        said.append("Windows that end on a date without a clock hold that whole day.")
        ends = ends + DAY
    return starts, ends


def _numbered(pairs: Pairs, path: str | Path, said: list[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Windows of a series without times: numbers of rows."""
    read = numbers(pl.Series([end for pair in pairs for end in pair], dtype=pl.String)).values
    if not (read == np.floor(read)).all():
        raise ValueError(
            f"{path}: the series has no times, so windows are numbers of rows, counted from 0. "
            f"Got {', '.join(pairs[int((~(read == np.floor(read))).argmax()) // 2])}.\n  Name the time column, or count rows."
        )
    said.append(
        "The series has no times: windows were read as numbers of rows, counted from 0, both ends included."
    )
    return read[::2], read[1::2]


def _shown(moment: Any) -> str:
    return (
        str(moment.astype("datetime64[s]")).replace("T", " ")
        if isinstance(moment, np.datetime64)
        else f"{moment:g}"
    )
