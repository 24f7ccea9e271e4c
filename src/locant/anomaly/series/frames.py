"""Take a series from a frame or an array that is already in memory: pandas, polars or numpy.

pandas is never imported here: a frame of it is known by what it can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from locant.anomaly.metrics.events import events
from locant.anomaly.series.raw_table import Flags, Floats
from locant.anomaly.series.repairs import Rows, fill_missing, sort_by_time
from locant.anomaly.series.series import FileSummary, Series, step_and_irregularity

KINDS = "a pandas or polars frame or series, or a numpy array of one or two dimensions"


def is_frame(data: Any) -> bool:
    """Say whether data are a frame or an array that `series_of_frame` takes.

    >>> is_frame(np.zeros(3)), is_frame(pl.DataFrame({"x": [1]})), is_frame("mine.csv")
    (True, True, False)
    """
    return isinstance(data, np.ndarray | pl.DataFrame | pl.Series) or _is_pandas(data)


def series_of_frame(
    data: Any,
    *,
    time: str | None = None,
    columns: Sequence[str] | str | None = None,
    label: str | None = None,
) -> Series:
    """Read a series from a frame or an array; its rows are sorted by time.

    time     the column of times; by default a column of dates, or the index of a pandas frame when
             it holds dates
    columns  the value columns; by default all columns of numbers but the others named here
    label    a column that is true, or 1, where a row is anomalous

    >>> series_of_frame(np.array([1.0, 2.0, np.nan, 4.0])).values.ravel().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    frame, kind = _as_polars(data), type(data).__module__.split(".")[0]
    time = time if time is not None else _time_column(frame)
    wanted = [columns] if isinstance(columns, str) else columns
    for name in (time, label, *(wanted or ())):
        if name is not None and name not in frame.columns:
            known = ", ".join(frame.columns)
            raise ValueError(f"the frame has no column {name!r}. It has: {known}.")
    names = list(wanted) if wanted else _value_columns(frame, (time, label))
    values = frame.select(pl.col(names).cast(pl.Float64)).to_numpy().astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    _check(names, values)
    times = None if time is None else _times(frame[time])
    labels = None if label is None else frame[label].cast(pl.Float64).to_numpy() > 0
    return _series(Rows(values, times, labels), names, kind, time)


def _series(rows: Rows, names: list[str], kind: str, time: str | None) -> Series:
    """Sort and fill rows, and describe them."""
    notes: list[str] = []
    rows = sort_by_time(rows, notes)
    present = ~np.isnan(rows.values)
    filled = fill_missing(rows.values, rows.times, names, notes)
    facts: dict[str, Any] = {"missing": int((~present).sum())}
    if rows.times is not None:
        step, irregular = step_and_irregularity(rows.times)
        ends = {"start": rows.times[0], "end": rows.times[-1]}
        facts |= {"step": step, "irregular": irregular} | ends
    length, columns = filled.shape
    summary = FileSummary(f"the {kind} data", kind, length, columns, time, **facts)
    observed: Flags | None = None if present.all() else present
    windows = None if rows.labels is None else tuple(events(rows.labels))
    return Series(filled, tuple(names), rows.times, rows.labels, windows, summary, notes, observed)


def _as_polars(data: Any) -> pl.DataFrame:
    """Turn data into a polars frame; a pandas index of dates becomes a column."""
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.Series):
        return data.to_frame(data.name or "x0")
    if isinstance(data, np.ndarray):
        if data.ndim not in (1, 2) or data.dtype.kind not in "fiub":
            raise ValueError(
                f"detect needs numbers in {KINDS}. Got an array of {data.ndim} dimensions "
                f"of type {data.dtype}."
            )
        table = data.reshape(len(data), -1)
        return pl.DataFrame({f"x{n}": table[:, n] for n in range(table.shape[1])})
    if data.ndim == 1:
        data = data.to_frame(data.name if data.name is not None else "x0")
    columns = {str(name): pl.Series(data[name].to_numpy()) for name in data.columns}
    index = data.index.to_numpy()
    if index.dtype.kind == "M":
        columns = {str(data.index.name or "time"): pl.Series(index), **columns}
    return pl.DataFrame(columns)


def _is_pandas(data: Any) -> bool:
    module = type(data).__module__.split(".")[0]
    return module == "pandas" and hasattr(data, "index") and hasattr(data, "ndim")


def _time_column(frame: pl.DataFrame) -> str | None:
    """Find the first column of dates."""
    for name, kind in frame.schema.items():
        if isinstance(kind, pl.Datetime | pl.Date):
            return name
    return None


def _value_columns(frame: pl.DataFrame, others: tuple[str | None, ...]) -> list[str]:
    """List the columns of numbers that are not named otherwise."""
    names = []
    for name, kind in frame.schema.items():
        if name not in others and kind.is_numeric():
            names.append(name)
    if not names:
        raise ValueError(f"the frame has no column of numbers. It has: {', '.join(frame.columns)}.")
    return names


def _times(column: pl.Series) -> np.ndarray:
    """Return times as datetime64[ns], or as numbers."""
    if column.null_count():
        raise ValueError(
            f"{column.null_count():,} rows have no time in column {column.name!r}. Drop them first."
        )
    if isinstance(column.dtype, pl.Datetime | pl.Date):
        if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.cast(pl.Datetime("ns")).to_numpy()
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).to_numpy()
    raise ValueError(
        f"column {column.name!r} holds {column.dtype}, neither dates nor numbers. "
        "Parse it first: pandas.to_datetime, or polars' str.to_datetime."
    )


def _check(names: Sequence[str], values: Floats) -> None:
    """Refuse too few rows, and columns without any number."""
    if len(values) < 2:
        raise ValueError(f"the frame has {len(values)} rows. A series needs at least two.")
    empty = [name for name, column in zip(names, values.T, strict=True) if np.isnan(column).all()]
    if empty:
        raise ValueError(f"no number is in {', '.join(empty)}. Leave it out: columns=.")
