"""Which column is the time: by its name and by what it holds. Dates first, then numbers that can be times."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import polars as pl

from locant.anomaly.series.cells import Marks, numbers
from locant.anomaly.series.epochs import unit
from locant.anomaly.series.raw import Floats, Raw
from locant.anomaly.series.stamps import has_clock, is_clock, is_dated

NAMES = {
    "time",
    "times",
    "timestamp",
    "timestamps",
    "date",
    "dates",
    "datetime",
    "epoch",
    "unixtime",
    "ts",
    "ds",
}
COUNTERS = {
    "t",
    "i",
    "n",
    "k",
    "index",
    "idx",
    "step",
    "row",
    "id",
    "no",
    "nr",
    "number",
    "sample",
    "tick",
    "elapsed",
}
COUNTERS |= {
    "seconds",
    "minutes",
    "hours",
    "days",
    "unnamed: 0",
}  # the last is what pandas calls a nameless index
ENOUGH = 4  # numbers that do not rise evenly, or all rise, by accident


def find_time(raw: Raw, marks: Marks, taken: Collection[int]) -> int | None:
    """The place of the time column, or None; columns that are `taken` for something else are not looked at.

    >>> cells = [pl.Series(["1.5", "2.5"]), pl.Series(["2014-02-14", "2014-02-15"])]
    >>> find_time(Raw("a.csv", "CSV", ["load", "day"], cells, np.arange(2)), Marks(), taken=())
    1
    """
    free = [place for place in range(len(raw.names)) if place not in taken]
    dated = [place for place in free if is_dated(raw.columns[place])]
    if dated:
        return min(dated, key=lambda place: (not is_named(raw.names[place]), place))
    if len(raw.names) < 2:
        return None
    return next((place for place in free if _counts_time(raw, place, marks)), None)


def unread_time(raw: Raw, marks: Marks, taken: Collection[int]) -> int | None:
    """A column that is called a time, but holds text that is none."""
    named = [
        place for place, name in enumerate(raw.names) if core(name) in NAMES and place not in taken
    ]
    text = [
        place for place in named if raw.columns[place].dtype == pl.String and len(raw.names) > 1
    ]
    return next((place for place in text if numbers(raw.columns[place], marks).text.any()), None)


def clock_beside(raw: Raw, place: int) -> int | None:
    """The column of clocks that belongs to a column of dates without any."""
    cells = raw.columns[place]
    if cells.dtype != pl.String or not is_dated(cells) or has_clock(cells):
        return None
    return next(
        (other for other, cells in enumerate(raw.columns) if other != place and is_clock(cells)),
        None,
    )


def is_named(name: str) -> bool:
    """Whether a name says that a column is a time.

    >>> [is_named(name) for name in ("timestamp", "eventTime", "Date/Time", "runtime", "temperature")]
    [True, True, True, False, False]
    """
    return bool(NAMES & {word.lower() for word in re.findall("[A-Z]*[a-z]+|[A-Z]+", name)})


def core(name: str) -> str:
    """A name without its unit.

    >>> core("Time (s)"), core("time_ms"), core("load")
    ('time', 'time', 'load')
    """
    bare = re.sub(r"[(\[].*?[)\]]", "", name.lower()).strip()
    return re.sub(r"[ _](?:ns|us|ms|s|sec|seconds|min|h|utc)$", "", bare)


def _counts_time(raw: Raw, place: int, marks: Marks) -> bool:
    """Whether a column of numbers is a time: since 1970, or rising where its name or place says that it counts."""
    cells, name = raw.columns[place], core(raw.names[place])
    if not (cells.dtype == pl.String or cells.dtype.is_numeric()):
        return False
    plain, first = name in NAMES, place == 0
    if not (first or plain or name in COUNTERS or is_named(raw.names[place])):
        return False
    read = numbers(cells, marks)
    values = read.values[~np.isnan(read.values)]
    if len(values) < 2 or read.text.any() or 2 * len(values) < len(cells):
        return False
    steps = np.diff(values / 2)  # halved: the largest numbers are too far apart for float64
    if unit(values):
        return is_named(raw.names[place]) or bool((steps >= 0).all())
    if plain:
        return bool((steps >= 0).all()) or 2 * len(np.unique(values)) >= len(values)
    rises = bool((steps > 0).all())
    by_place = first and len(values) >= ENOUGH and (not raw.headed or _even(steps))
    return rises and (name in COUNTERS or by_place)


def counts_rows(name: str, values: Floats) -> bool:
    """Whether a column only numbers the rows.

    >>> counts_rows("index", np.array([0.0, 1.0, 2.0])), counts_rows("load", np.array([0.0, 1.0, 2.0]))
    (True, False)
    """
    return (
        (name.lower() in COUNTERS or name == "column_1")
        and len(values) > 1
        and bool((values[1:] == values[:-1] + 1).all())
    )


def _even(steps: Floats) -> bool:
    return bool(np.ptp(steps) <= 1e-6 * abs(steps.mean()))
