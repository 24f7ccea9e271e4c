"""Parquet: columns that already have a type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from locant.anomaly.series.raw import Raw
from locant.anomaly.series.room import needs_room


def read_parquet(path: Path) -> Raw:
    """The columns of a Parquet file; rows are counted from 1, because there are no lines."""
    try:
        lazy = pl.scan_parquet(path)
        rows, width = lazy.select(pl.len()).collect().item(), len(lazy.collect_schema())
        needs_room(path, rows * (width + 2) * 8 * 3)
        frame = lazy.collect()
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise ValueError(
            f"{path} begins like a Parquet file, but cannot be read as one: {str(problem).splitlines()[0]}.\n"
            "  It may be cut short. Write it again."
        ) from None
    said: list[str] = []
    kept = {column.name: made for column in frame if (made := _plain(column, said)) is not None}
    return Raw(
        str(path),
        "Parquet",
        list(kept),
        list(kept.values()),
        np.arange(1, rows + 1),
        "row",
        True,
        said,
    )


def _plain(column: pl.Series, said: list[str]) -> pl.Series | None:
    """The column as numbers, times or text; None for what a series cannot hold."""
    kind = column.dtype
    if kind.is_numeric():
        return (
            column.cast(pl.Float64)
            if kind.is_decimal() or kind in (pl.UInt64, pl.Int128)
            else column
        )
    if kind == pl.String or kind in (pl.Date, pl.Datetime):
        return column
    if kind in (pl.Categorical, pl.Enum, pl.Boolean):
        return column.cast(pl.String)
    said.append(f"Column {column.name} holds {kind}, which is no number, time or text: left out.")
    return None
