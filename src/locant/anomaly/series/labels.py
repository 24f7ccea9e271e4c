"""Read which rows are anomalous: from a label column, or from a file of windows.

A label is 0/1, true/false or normal/anomaly. A window is [start, end], both ends included; its file
is a JSON list of windows, NAB's {"folder/file.csv": [[start, end], …]}, or a CSV with columns start
and end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from locant._internal.checks import did_you_mean
from locant.anomaly.series.delimited import read_delimited
from locant.anomaly.series.input_file import find_file, read_first_bytes, scan_text
from locant.anomaly.series.number_format import PLAIN, NumberFormat, is_missing, parse_numbers
from locant.anomaly.series.raw_table import Flags, RawTable
from locant.anomaly.series.series import time_text
from locant.anomaly.series.time_column import Times, read_times
from locant.anomaly.series.timestamp_cells import has_clock

LABEL_NAMES = ("label", "anomaly", "is_anomaly")  # columns with these names are tried as labels
TRUE = ["1", "true", "yes", "anomaly", "anomalous", "abnormal"]
FALSE = ["0", "false", "no", "normal"]
ALLOWED_LABELS = "0/1, true/false, yes/no and normal/anomaly are understood"
ALLOWED_WINDOWS = (
    'a JSON list of [start, end], {"folder/file.csv": [[start, end], …]}, '
    "or a CSV with columns start and end"
)
Windows = list[tuple[str, str]]
Intervals = tuple[tuple[int, int], ...]
DAY = np.timedelta64(86400 * 10**9 - 1, "ns")


class Labels(NamedTuple):
    """A column as labels, (T,) each."""

    anomalous: Flags
    missing: Flags
    invalid: Flags  # the cell holds something else


def parse_labels(cells: pl.Series, number_format: NumberFormat) -> Labels:
    """Parse every cell of a column as a label.

    >>> labels = parse_labels(pl.Series(["Normal", "anomaly", "1.0", "", "2"]), NumberFormat())
    >>> labels.anomalous.tolist()
    [False, True, True, False, False]
    >>> labels.missing.tolist(), labels.invalid.tolist()
    ([False, False, False, True, False], [False, False, False, False, True])
    """
    nowhere = np.zeros(len(cells), np.bool_)
    if not (cells.dtype == pl.String or cells.dtype.is_numeric()):
        return Labels(nowhere, nowhere, ~nowhere)
    values = parse_numbers(cells, number_format).values
    anomalous, normal, missing = values == 1, values == 0, np.isnan(values)
    if cells.dtype == pl.String:
        words = cells.str.strip_chars().str.to_lowercase()
        anomalous |= words.is_in(TRUE).fill_null(False).to_numpy()
        normal |= words.is_in(FALSE).fill_null(False).to_numpy()
        missing = is_missing(cells).to_numpy()
    return Labels(anomalous, missing, ~(anomalous | normal | missing))


def find_label_columns(table: RawTable, number_format: NumberFormat) -> list[int]:
    """Return the columns that are labels by name and by their cells, the likeliest first."""
    found: list[int] = []
    for label_name in LABEL_NAMES:
        for index, name in enumerate(table.names):
            if name.lower() != label_name:
                continue
            labels = parse_labels(table.columns[index], number_format)
            if not labels.invalid.any() and not labels.missing.all():
                found.append(index)
    return found


def read_labels(table: RawTable, index: int, number_format: NumberFormat) -> Flags:
    """Read the labels of a column, (T,); a cell that is not a label is refused."""
    labels, name = parse_labels(table.columns[index], number_format), table.names[index]
    if labels.invalid.any():
        row = int(labels.invalid.argmax())
        cell = str(table.columns[index][row])
        raise ValueError(
            f"{table.path}, {table.line_of(row)}: {cell!r} in the label column {name} is not a "
            f"label.\n  {ALLOWED_LABELS}; or give windows, a file of [start, end] pairs."
        )
    if labels.missing.any():
        count, rows = labels.missing.sum(), len(labels.missing)
        table.notes.append(f"{name}: {count:,} of {rows:,} rows had no label: treated as normal.")
    return labels.anomalous


def read_windows(path: str | Path, series: Path, notes: list[str]) -> Windows:
    """Read the windows that a file has for this series, as they are written."""
    found = find_file(path)
    if read_first_bytes(found).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"[", b"{"):
        return _read_table(found)
    with scan_text(found).open() as file:
        try:
            content = json.load(file, parse_float=str, parse_int=str)
        except (ValueError, RecursionError) as problem:
            raise ValueError(
                f"{path} is not complete JSON: {problem}.\n  Windows are {ALLOWED_WINDOWS}."
            ) from None
    if isinstance(content, dict):
        content = content[_find_key(found, list(content), series, notes)]
    if not isinstance(content, list):
        raise ValueError(
            f"{path} holds {json.dumps(content)} where windows should be. "
            f"Windows are {ALLOWED_WINDOWS}."
        )
    return [_check_window(found, number, item) for number, item in enumerate(content, 1)]


def label_windows(
    windows: Windows, path: str | Path, times: Times | None, rows: int, notes: list[str]
) -> tuple[Flags, Intervals]:
    """Return labels (T,), and each window that holds rows as a half-open interval of rows.

    >>> label_windows([("1", "2"), ("9", "9")], "windows.json", None, 5, notes := [])
    (array([False,  True,  True, False, False]), ((1, 3),))
    >>> notes[-1]
    'Window [9, 9] holds no row of the series: left out.'
    """
    labels = np.zeros(rows, np.bool_)
    if not windows:
        notes.append(f"{path} has no window for this series: all rows are labeled normal.")
        return labels, ()
    if times is None:
        starts, ends = _as_rows(windows, path, notes)
    else:
        starts, ends = _as_times(windows, path, times, notes)
    for window, start, end in zip(windows, starts, ends, strict=True):
        if start > end:
            raise ValueError(
                f"{path}: the window {_as_text(window)} ends before it starts. Write [start, end]."
            )
    at = np.arange(rows) if times is None else times.values
    firsts = np.searchsorted(at, starts, "left").tolist()
    stops = np.searchsorted(at, ends, "right").tolist()
    held = list(zip(windows, firsts, stops, strict=True))
    empty = [window for window, first, stop in held if first == stop]
    if len(empty) == len(windows):
        raise ValueError(
            f"{path}: no window holds a row of the series, which runs from {time_text(at[0])} to "
            f"{time_text(at[-1])}; the first window is {_as_text(windows[0])}.\n"
            "  Give the windows of this series, in its own times."
        )
    for window in empty:
        notes.append(f"Window {_as_text(window)} holds no row of the series: left out.")
    intervals = tuple((first, stop) for _, first, stop in held if first < stop)
    for first, stop in intervals:
        labels[first:stop] = True
    return labels, intervals


def _read_table(path: Path) -> Windows:
    table = read_delimited(scan_text(path))
    names = [name.lower() for name in table.names]
    if not {"start", "end"} <= set(names):
        raise ValueError(
            f"{path} has the columns {', '.join(table.names)}. Windows are {ALLOWED_WINDOWS}."
        )
    starts = table.columns[names.index("start")].fill_null("")
    ends = table.columns[names.index("end")].fill_null("")
    pairs = zip(starts, ends, strict=True)
    return [_check_window(path, number, list(pair)) for number, pair in enumerate(pairs, 1)]


def _check_window(path: Path, number: int, item: Any) -> tuple[str, str]:
    is_pair = isinstance(item, list) and len(item) == 2
    if not is_pair or not all(isinstance(end, str) and end.strip() for end in item):
        raise ValueError(
            f"{path}: window {number} is {json.dumps(item)}, not [start, end]. "
            f"Windows are {ALLOWED_WINDOWS}."
        )
    return item[0], item[1]


def _find_key(path: Path, keys: list[str], series: Path, notes: list[str]) -> str:
    """Return the key of this series' windows: the longest one that its path ends with."""
    parts = Path(str(series.resolve()).removesuffix(".gz")).parts
    ends = [key for key in keys if (own := Path(key).parts) and parts[-len(own) :] == own]
    if ends:
        return max(ends, key=len)
    named = [key for key in keys if Path(key).name == parts[-1]]
    if len(named) == 1:
        notes.append(
            f"The windows of {named[0]} were used: the file name is the same, the folder is not."
        )
        return named[0]
    near = did_you_mean("/".join(parts[-2:]), keys)
    more = ", …" if len(keys) > 3 else ""
    raise ValueError(
        f"{path} has no windows for {series}.{near}\n"
        f"  It has {len(keys)} keys, each the end of a path: {', '.join(keys[:3])}{more}"
    )


def _as_times(
    windows: Windows, path: str | Path, times: Times, notes: list[str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the starts and ends of windows of a series with times."""
    cells = pl.Series([end for window in windows for end in window], dtype=pl.String)
    numbers = np.repeat(np.arange(1, len(windows) + 1), 2)
    table = RawTable(
        str(path), "windows", ["[start, end]"], [cells], numbers, unit="window", notes=notes
    )
    read = read_times(table, 0, PLAIN)
    if read.dated != times.dated:
        raise ValueError(
            f"{path}: the windows are {read.format}, such as {cells[0]!r}, but the times of the "
            f"series are {times.format}.\n  Write the windows like the times of the series."
        )
    if read.zoned != times.zoned:
        zoned, other = "times of the series", "windows"
        if read.zoned:
            zoned, other = other, zoned
        notes.append(f"The {zoned} have a zone, the {other} have none: all were read as UTC.")
    starts, ends = read.values[::2], read.values[1::2]
    if read.dated and not read.zoned and not has_clock(cells):
        notes.append("Windows that end on a date without a time of day include that whole day.")
        ends = ends + DAY
    return starts, ends


def _as_rows(
    windows: Windows, path: str | Path, notes: list[str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the starts and ends of windows of a series without times, as row numbers."""
    cells = pl.Series([end for window in windows for end in window], dtype=pl.String)
    read = parse_numbers(cells).values
    wrong = ~(read == np.floor(read))
    if wrong.any():
        raise ValueError(
            f"{path}: the series has no times, so windows are row numbers, counted from 0. "
            f"Got {', '.join(windows[int(wrong.argmax()) // 2])}.\n"
            "  Name the time column, or count rows."
        )
    notes.append(
        "The series has no times: windows were read as row numbers, counted from 0, "
        "both ends included."
    )
    return read[::2], read[1::2]


def _as_text(window: tuple[str, str]) -> str:
    return f"[{', '.join(window)}]"
