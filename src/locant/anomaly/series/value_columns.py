"""Choose the value columns: numbers that vary. Note the other columns, and text among numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from locant.anomaly.series.number_format import NumberFormat, Numbers, parse_numbers
from locant.anomaly.series.raw_table import Floats, RawTable
from locant.anomaly.series.roles import counts_rows


def choose_values(
    table: RawTable,
    number_format: NumberFormat,
    wanted: Sequence[str] | None,
    taken: Collection[int],
) -> tuple[list[str], Floats]:
    """Return the names and the numbers (T,F) of the value columns, NaN where a value is missing.

    A column that the user names must hold numbers, but may be constant: a stuck sensor is worth a
    look.
    """
    if wanted is None:
        indices = [index for index in range(len(table.names)) if index not in taken]
    else:
        indices = [table.find_column(name, "a value column") for name in dict.fromkeys(wanted)]
    kept: dict[str, Floats] = {}
    dropped: list[str] = []
    for index in indices:
        read = _read_numbers(table, index, number_format)
        reason = _reason_to_drop(table, index, read, automatic=wanted is None)
        if reason:
            dropped.append(f"Column {table.names[index]} {reason}")
            continue
        kept[table.names[index]] = read.values
        _note_text(table, index, read)
        _check_range(table, index, read)
    if wanted is not None and dropped:
        first = dropped[0].replace("Column", "column", 1)
        raise ValueError(f"{table.path}: {first}. Ask for columns of numbers.")
    if not kept:
        reasons = dropped or ["There is no column besides the time and the labels"]
        raise ValueError(
            f"{table.path} has no column of numbers that vary.\n  {'. '.join(reasons)}."
        )
    table.notes += [f"{sentence}: left out." for sentence in dropped]
    return list(kept), np.stack(list(kept.values()), 1)


def _read_numbers(table: RawTable, index: int, number_format: NumberFormat) -> Numbers:
    """Parse a column as numbers; a typed column of dates has none."""
    cells = table.columns[index]
    if cells.dtype.is_numeric() or cells.dtype == pl.String:
        return parse_numbers(cells, number_format)
    nowhere = np.zeros(len(cells), np.bool_)
    return Numbers(np.full(len(cells), np.nan), ~nowhere, nowhere)


def _reason_to_drop(table: RawTable, index: int, read: Numbers, *, automatic: bool) -> str:
    """Say why a column cannot be a value; empty if it can."""
    present = read.values[~np.isnan(read.values)]
    texts, overflows = read.is_text.sum(), read.overflows.sum()
    if 2 * texts > texts + len(present) + overflows:
        row = int(read.is_text.argmax())
        return f"holds text ({str(table.columns[index][row])!r} on {table.line_of(row)})"
    if not len(present) and not overflows:
        return "has no values"
    if automatic and counts_rows(table.names[index], present):
        return "only counts the rows"
    if automatic and not overflows and present.min() == present.max():
        return f"is constant ({present[0]:g})"
    return ""


def _note_text(table: RawTable, index: int, read: Numbers) -> None:
    if not read.is_text.any():
        return
    count, row = int(read.is_text.sum()), int(read.is_text.argmax())
    cells = "1 cell is not a number"
    if count > 1:
        cells = f"{count:,} cells are not numbers, the first"
    cell = str(table.columns[index][row])
    table.notes.append(
        f"{table.names[index]}: {cells} ({cell!r} on {table.line_of(row)}): treated as missing."
    )


def _check_range(table: RawTable, index: int, read: Numbers) -> None:
    if not read.overflows.any():
        return
    row = int(read.overflows.argmax())
    cell = str(table.columns[index][row])
    if len(cell) > 20:
        cell = f"{cell[:20]}…"
    raise ValueError(
        f"{table.path}, {table.line_of(row)}: {cell} in column {table.names[index]} is beyond "
        "the largest number that float64 holds, 1.8e308.\n"
        "  Rescale the column, or leave the cell empty."
    )
