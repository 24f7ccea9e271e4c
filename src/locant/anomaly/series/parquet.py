"""Read Parquet files, whose columns already have types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from locant.anomaly.series.free_memory import check_memory
from locant.anomaly.series.raw_table import RawTable


def read_parquet(path: Path) -> RawTable:
    """Read the columns of a Parquet file; it has no lines, so rows are counted from 1."""
    try:
        lazy = pl.scan_parquet(path)
        rows, width = lazy.select(pl.len()).collect().item(), len(lazy.collect_schema())
        check_memory(path, rows * (width + 2) * 8 * 3)
        frame = lazy.collect()
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise ValueError(
            f"{path} begins like a Parquet file, but cannot be read as one: "
            f"{str(problem).splitlines()[0]}.\n"
            "  It may be cut short. Write it again."
        ) from None
    notes: list[str] = []
    kept: dict[str, pl.Series] = {}
    for column in frame:
        simple = _simple(column)
        if simple is not None:
            kept[column.name] = simple
            continue
        notes.append(
            f"Column {column.name} holds {column.dtype}, which is not a number, time or text: "
            "left out."
        )
    return RawTable(
        path=str(path),
        format="Parquet",
        names=list(kept),
        columns=list(kept.values()),
        lines=np.arange(1, rows + 1),
        unit="row",
        notes=notes,
    )


def _simple(column: pl.Series) -> pl.Series | None:
    """Return the column as numbers, times or text; None for types that a series cannot hold."""
    kind = column.dtype
    if kind.is_decimal() or kind in (pl.UInt64, pl.Int128):
        return column.cast(pl.Float64)
    if kind.is_numeric() or kind == pl.String or kind in (pl.Date, pl.Datetime):
        return column
    if kind in (pl.Categorical, pl.Enum, pl.Boolean):
        return column.cast(pl.String)
    return None
