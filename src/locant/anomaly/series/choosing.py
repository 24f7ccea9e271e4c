"""Which columns are the values: numbers that vary. What is left out is told, and so is text among numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from locant.anomaly.series.cells import Marks, Numbers, numbers
from locant.anomaly.series.finding import counts_rows
from locant.anomaly.series.raw import Floats, Raw


def chosen(
    raw: Raw, marks: Marks, asked: Sequence[str] | None, taken: Collection[int]
) -> tuple[list[str], Floats]:
    """The names and the numbers (T,F) of the value columns, NaN where a value is missing.

    What is asked for by name must be numbers, but may be constant: a stuck sensor is worth a look.
    """
    places = [place for place in range(len(raw.names)) if place not in taken]
    if asked is not None:
        places = [raw.find(name, "a value column") for name in dict.fromkeys(asked)]
    kept: dict[str, Floats] = {}
    dropped: list[str] = []
    for place in places:
        read = _read(raw, place, marks)
        why = _unfit(raw, place, read, constants=asked is None)
        if why:
            dropped.append(f"Column {raw.names[place]} {why}")
            continue
        kept[raw.names[place]] = read.values
        raw.said += _text_among(raw, place, read)
        _needs_range(raw, place, read)
    if asked is not None and dropped:
        raise ValueError(
            f"{raw.path}: {dropped[0][0].lower()}{dropped[0][1:]}. Ask for columns of numbers."
        )
    if not kept:
        reasons = dropped or ["There is no column besides the time and the labels"]
        raise ValueError(f"{raw.path} has no column of numbers that vary.\n  {'. '.join(reasons)}.")
    raw.said += [f"{sentence}: left out." for sentence in dropped]
    return list(kept), np.stack(list(kept.values()), 1)


def _read(raw: Raw, place: int, marks: Marks) -> Numbers:
    """A column as numbers; one of dates as none at all."""
    cells = raw.columns[place]
    if cells.dtype.is_numeric() or cells.dtype == pl.String:
        return numbers(cells, marks)
    nothing = np.zeros(len(cells), np.bool_)
    return Numbers(np.full(len(cells), np.nan), ~nothing, nothing)


def _unfit(raw: Raw, place: int, read: Numbers, *, constants: bool) -> str:
    """Why a column cannot be a value, or nothing."""
    there = read.values[~np.isnan(read.values)]
    if 2 * read.text.sum() > read.text.sum() + len(there) + read.beyond.sum():
        row = int(read.text.argmax())
        return f"holds text ({str(raw.columns[place][row])!r} on {raw.where(row)})"
    if not len(there) and not read.beyond.any():
        return "has no values"
    if constants and counts_rows(raw.names[place], there):
        return "only counts the rows"
    if constants and not read.beyond.any() and there.min() == there.max():
        return f"is constant ({there[0]:g})"
    return ""


def _text_among(raw: Raw, place: int, read: Numbers) -> list[str]:
    if not read.text.any():
        return []
    count, row = int(read.text.sum()), int(read.text.argmax())
    cells = "1 cell is no number" if count == 1 else f"{count:,} cells are no numbers, the first"
    shown = f"{str(raw.columns[place][row])!r} on {raw.where(row)}"
    return [f"{raw.names[place]}: {cells} ({shown}): taken as missing."]


def _needs_range(raw: Raw, place: int, read: Numbers) -> None:
    if read.beyond.any():
        row = int(read.beyond.argmax())
        cell = str(raw.columns[place][row])
        raise ValueError(
            f"{raw.path}, {raw.where(row)}: {cell[:20] + '…' if len(cell) > 20 else cell} in column {raw.names[place]} is "
            "past the largest number that float64 holds, 1.8e308.\n  Rescale the column, or leave the cell empty."
        )
