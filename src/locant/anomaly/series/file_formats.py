"""Read the cells of a file in its format: JSON lines and Parquet here, text tables by `delimited`.

JSON lines have one object a line, whose numbers stay text and are parsed like those of a CSV. The
columns of a Parquet file already have types.
"""

from __future__ import annotations

import json
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from locant.anomaly.series.delimited import read_delimited
from locant.anomaly.series.input_file import (
    PARQUET,
    READABLE,
    TextFile,
    check_memory,
    find_file,
    is_gzipped,
    read_first_bytes,
    scan_text,
)
from locant.anomaly.series.raw_table import RawTable

# bytes of memory that reading takes for each byte and line of a file, measured on a million rows
MEMORY_PER_BYTE, MEMORY_PER_LINE = 4, 60
BLOCK_ROWS = 2_000  # rows of a block: few enough to stay in the cache
DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def read_table(path: str | Path) -> RawTable:
    """Read the cells of a file with at least two rows, by the reader of its format."""
    found = find_file(path)
    first = read_first_bytes(found)
    table = _read_parquet(found) if first.startswith(PARQUET) else _read_text(found, first)
    if is_gzipped(found):
        table.format += ", gzip"
    rows = len(table.lines)
    if rows < 2:
        content = "only a header" if table.has_header and not rows else f"only {rows} row"
        raise ValueError(f"{path} has {content}. A series needs at least two rows of numbers.")
    return table


def _read_parquet(path: Path) -> RawTable:
    if is_gzipped(path):
        raise ValueError(
            f"{path} is a Parquet file compressed with gzip. Decompress it (gunzip).\n  {READABLE}."
        )
    return read_parquet(path)


def _read_text(path: Path, first: bytes) -> RawTable:
    if path.suffix == ".parquet":
        raise ValueError(
            f"{path} has the suffix .parquet, but does not begin like a Parquet file. "
            "Write it again, or name it .csv."
        )
    check_memory(path, MEMORY_PER_BYTE * path.stat().st_size)  # before a large file is scanned
    text = scan_text(path)
    check_memory(path, MEMORY_PER_BYTE * text.size + MEMORY_PER_LINE * text.lines)
    start = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    table = read_json_lines(text) if start in (b"{", b"[") else read_delimited(text)
    if text.encoding == "latin-1":
        table.notes.insert(0, "The file is not UTF-8: it was read as Latin-1.")
    return table


def read_json_lines(text: TextFile) -> RawTable:
    """Read the cells of a file of objects; a key that a line does not have is a missing cell."""
    columns: dict[str, list[pl.Series]] = {}
    lines: list[np.ndarray] = []
    done = 0
    with text.open() as file:
        numbered = ((number, line) for number, line in enumerate(file, 1) if line.strip())
        while block := list(islice(numbered, BLOCK_ROWS)):
            rows = [parse_object(line, text.path, number) for number, line in block]
            for name in dict.fromkeys(chain.from_iterable(rows)):
                if name not in columns:  # no row above has it
                    columns[name] = [pl.Series([None] * done, dtype=pl.String)]
            for name, parts in columns.items():
                parts.append(_as_column([row.get(name) for row in rows]))
            lines.append(np.array([number for number, _ in block], np.int64))
            done += len(rows)
    cells = [pl.concat(parts) for parts in columns.values()]
    return RawTable(str(text.path), "JSON lines", list(columns), cells, np.concatenate(lines))


def parse_object(line: str, source: str | Path, number: int) -> dict[str, Any]:
    """Parse one line as an object whose numbers stay text; errors name the source and the line.

    >>> parse_object('{"time": 1, "load": 1e400, "on": true, "note": null}', "a.jsonl", 1)
    {'time': '1', 'load': '1e400', 'on': True, 'note': None}
    """
    try:
        row = DECODER.decode(line)
    except (ValueError, RecursionError) as problem:
        raise ValueError(
            f"{source}, line {number:,} is not JSON: {problem}.\n"
            "  JSON lines have one complete object a line."
        ) from None
    if not isinstance(row, dict):
        raise ValueError(
            f"{source}, line {number:,} is JSON, but not an object such as "
            '{"time": "2014-02-14", "load": 1.5}.\n'
            "  JSON lines have one complete object a line. "
            "A list of objects is split into lines with: jq -c '.[]'"
        )
    return row


def as_cell(value: Any) -> str | None:
    """Convert a JSON value to the text of a cell.

    >>> as_cell("1.5"), as_cell(True), as_cell(["1", "2"])
    ('1.5', 'true', '["1", "2"]')
    """
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _as_column(values: list[Any]) -> pl.Series:
    try:
        return pl.Series(values, dtype=pl.String)
    except TypeError:  # one of the values is not text
        return pl.Series([as_cell(value) for value in values], dtype=pl.String)


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
