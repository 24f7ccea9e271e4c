"""Read a label column, which says which rows are anomalous: 0/1, true/false, normal/anomaly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from locant.anomaly.series.number_format import NumberFormat, is_missing, parse_numbers
from locant.anomaly.series.raw_table import Flags, RawTable

LABEL_NAMES = ("label", "anomaly", "is_anomaly")  # columns with these names are tried as labels
TRUE = ["1", "true", "yes", "anomaly", "anomalous", "abnormal"]
FALSE = ["0", "false", "no", "normal"]
ALLOWED = "0/1, true/false, yes/no and normal/anomaly are understood"


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
            f"label.\n  {ALLOWED}; or give windows, a file of [start, end] pairs."
        )
    if labels.missing.any():
        count, rows = labels.missing.sum(), len(labels.missing)
        table.notes.append(f"{name}: {count:,} of {rows:,} rows had no label: treated as normal.")
    return labels.anomalous
