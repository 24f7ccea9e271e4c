"""Read JSON lines, one object a line. Numbers stay text, and are parsed like those of a CSV."""

from __future__ import annotations

import json
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from locant.anomaly.series.input_file import TextFile
from locant.anomaly.series.raw_table import RawTable

BLOCK_ROWS = 2_000  # rows of a block: few enough to stay in the cache
DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


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
