"""From a file to a series: one step after the other, and a sentence for every repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from locant.anomaly.metrics.events import events
from locant.anomaly.series.choosing import chosen
from locant.anomaly.series.filling import filled
from locant.anomaly.series.formats import read_raw
from locant.anomaly.series.labels import read_labels
from locant.anomaly.series.marking import mark
from locant.anomaly.series.marks import decide
from locant.anomaly.series.order import Rows, in_order, with_time
from locant.anomaly.series.raw import Raw
from locant.anomaly.series.roles import assign
from locant.anomaly.series.series import Series, Understood, gaps
from locant.anomaly.series.times import read_times
from locant.anomaly.series.windows import read_windows


def read_series(
    path: str | Path,
    *,
    time: str | None = None,
    columns: Sequence[str] | str | None = None,
    label: str | None = None,
    windows: str | Path | None = None,
) -> Series:
    r"""Read a series from CSV, TSV, JSON lines (each also packed with gzip) or Parquet, whatever the file's name says.

    time     the time column; by default found by its name and by what it holds, never one of `columns`
    columns  the value columns; by default all numbers that vary
    label    a column of 0/1, true/false or normal/anomaly; by default one called label, anomaly or is_anomaly, if it is so
    windows  a file of anomalous stretches instead: JSON [[start, end], …], NAB's layout, or a CSV with start and end

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "mine.csv")
    >>> _ = path.write_text("time,load\n2014-02-14,1\n2014-02-16,\n2014-02-15,2\n2014-02-17,4\n")
    >>> series = read_series(path)
    >>> series.values.ravel().tolist()
    [1.0, 2.0, 3.0, 4.0]
    >>> series.repairs
    ['1 of 4 rows was not in the order of time: the rows were sorted.', 'load: 1 of 4 values was missing: 1 interpolated.']
    """
    raw = read_raw(path)
    marks = decide(raw)
    asked = [columns] if isinstance(columns, str) else columns
    roles = assign(raw, marks, time=time, columns=asked, label=label, windows=windows is not None)
    times = None if roles.time is None else with_time(raw, read_times(raw, roles.time, marks))
    _needs_two(path, len(raw.places))
    labels = None if roles.label is None else read_labels(raw, roles.label, marks)
    names, values = chosen(raw, marks, asked, roles.taken)
    raw.columns.clear()  # their numbers are read
    rows = Rows(values, None if times is None else times.values, labels)
    rows = in_order(rows, raw.said, zoned=times is not None and times.zoned)
    _needs_two(path, len(rows.values))
    whole = filled(rows.values, rows.times, names, raw.said)
    spans = None if rows.labels is None else tuple(events(rows.labels))
    if windows is not None:
        pairs = read_windows(windows, Path(path), raw.said)
        clock = None if times is None or rows.times is None else times._replace(values=rows.times)
        marked, spans = mark(pairs, windows, clock, len(whole), raw.said)
        rows = rows._replace(labels=marked)
    named = (
        None if times is None or roles.time is None else f"{raw.names[roles.time]} ({times.how})"
    )
    return Series(
        whole, tuple(names), rows.times, rows.labels, spans, _understood(raw, named, rows), raw.said
    )


def _needs_two(path: str | Path, rows: int) -> None:
    if rows < 2:
        has = "only 1 row" if rows else "no row"
        raise ValueError(f"{path} has {has} with a time of its own. A series needs at least two.")


def _understood(raw: Raw, named: str | None, rows: Rows) -> Understood:
    length, columns = rows.values.shape
    missing = int(np.isnan(rows.values).sum())
    known = Understood(Path(raw.path).name, raw.kind, length, columns, named, missing=missing)
    if rows.times is None:
        return known
    step, irregular = gaps(rows.times)
    first, last = rows.times[0], rows.times[-1]
    dated = rows.times.dtype.kind == "M"
    ends = (first, last) if dated else (float(first), float(last))
    return replace(known, start=ends[0], end=ends[1], step=step, irregular=irregular)
