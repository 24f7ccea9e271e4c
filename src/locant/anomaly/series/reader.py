"""Read a series from a file: one step after the other, and a sentence for every repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from locant.anomaly.metrics.events import events
from locant.anomaly.series.file_formats import read_table
from locant.anomaly.series.labels import label_windows, read_labels, read_windows
from locant.anomaly.series.number_format import detect_number_format
from locant.anomaly.series.raw_table import RawTable
from locant.anomaly.series.repairs import Rows, drop_untimed, fill_missing, sort_by_time
from locant.anomaly.series.roles import assign_roles
from locant.anomaly.series.series import FileSummary, Series, step_and_irregularity
from locant.anomaly.series.time_column import read_times
from locant.anomaly.series.value_columns import choose_values


def read_series(
    path: str | Path,
    *,
    time: str | None = None,
    columns: Sequence[str] | str | None = None,
    label: str | None = None,
    windows: str | Path | None = None,
) -> Series:
    r"""Read a series from CSV, TSV, JSON lines (each also compressed with gzip) or Parquet.

    The format is recognized by the content of the file, whatever its suffix is.

    time     the time column; by default found by its name and its cells, never one of `columns`
    columns  the value columns; by default all columns of numbers that vary
    label    a column of 0/1, true/false or normal/anomaly; by default one that is called label,
             anomaly or is_anomaly, if its cells are labels
    windows  a file of anomalous intervals instead of a label column: JSON [[start, end], …], NAB's
             layout, or a CSV with columns start and end

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "mine.csv")
    >>> lines = ["time,load", "2014-02-14,1", "2014-02-16,", "2014-02-15,2", "2014-02-17,4"]
    >>> _ = path.write_text("\n".join(lines))
    >>> series = read_series(path)
    >>> series.values.ravel().tolist()
    [1.0, 2.0, 3.0, 4.0]
    >>> series.repairs
    ['1 of 4 rows was out of order: the rows were sorted by time.',
     'load: 1 of 4 values was missing: 1 interpolated.']
    """
    table = read_table(path)
    number_format = detect_number_format(table)
    wanted = [columns] if isinstance(columns, str) else columns
    roles = assign_roles(
        table, number_format, time=time, columns=wanted, label=label, windows=windows is not None
    )
    times, time_text = None, None
    if roles.time is not None:
        times = drop_untimed(table, read_times(table, roles.time, number_format))
        time_text = f"{table.names[roles.time]} ({times.format})"
    _check_two_rows(path, len(table.lines))
    labels = None if roles.label is None else read_labels(table, roles.label, number_format)
    names, values = choose_values(table, number_format, wanted, roles.taken)
    table.columns.clear()  # their numbers are read
    rows = Rows(values, None if times is None else times.values, labels)
    rows = sort_by_time(rows, table.notes, zoned=times is not None and times.zoned)
    _check_two_rows(path, len(rows.values))
    filled = fill_missing(rows.values, rows.times, names, table.notes)
    labels = rows.labels
    intervals = None if labels is None else tuple(events(labels))
    if windows is not None:
        if times is not None and rows.times is not None:
            times = times._replace(values=rows.times)
        wanted_windows = read_windows(windows, Path(path), table.notes)
        labels, intervals = label_windows(wanted_windows, windows, times, len(filled), table.notes)
    summary = _summarize(table, time_text, rows)
    missing = np.isnan(rows.values)
    observed = ~missing if missing.any() else None
    return Series(
        filled, tuple(names), rows.times, labels, intervals, summary, table.notes, observed
    )


def _check_two_rows(path: str | Path, rows: int) -> None:
    if rows < 2:
        count = "only 1 row" if rows else "no row"
        raise ValueError(f"{path} has {count} with a time of its own. A series needs at least two.")


def _summarize(table: RawTable, time_text: str | None, rows: Rows) -> FileSummary:
    length, columns = rows.values.shape
    missing = int(np.isnan(rows.values).sum())
    name = Path(table.path).name
    summary = FileSummary(name, table.format, length, columns, time_text, missing=missing)
    if rows.times is None:
        return summary
    step, irregular = step_and_irregularity(rows.times)
    start, end = rows.times[0], rows.times[-1]
    if rows.times.dtype.kind != "M":
        start, end = float(start), float(end)
    return replace(summary, start=start, end=end, step=step, irregular=irregular)
