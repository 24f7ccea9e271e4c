"""JSON lines: one object a line. Numbers are kept as they are written, and read like those of a text table."""

from __future__ import annotations

import json
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from locant.anomaly.series.raw import Raw
from locant.anomaly.series.survey import Text

ROWS = 2_000  # rows of a block: few enough to stay near the processor
DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def read_json_lines(text: Text) -> Raw:
    """The cells of a file of objects; a key that a line does not have is a missing cell."""
    columns: dict[str, list[pl.Series]] = {}
    places: list[np.ndarray] = []
    done = 0
    with text.open() as file:
        numbered = ((number, line) for number, line in enumerate(file, 1) if line.strip())
        while block := list(islice(numbered, ROWS)):
            rows = [parse_object(line, text.path, number) for number, line in block]
            for name in dict.fromkeys(chain.from_iterable(rows)):
                if name not in columns:  # no row above has it
                    columns[name] = [pl.Series([None] * done, dtype=pl.String)]
            for name, parts in columns.items():
                parts.append(_column([row.get(name) for row in rows]))
            places.append(np.array([number for number, _ in block], np.int64))
            done += len(rows)
    whole = [pl.concat(parts) for parts in columns.values()]
    return Raw(str(text.path), "JSON lines", list(columns), whole, np.concatenate(places))


def parse_object(line: str, source: str | Path, number: int) -> dict[str, Any]:
    """One line by name, with numbers as they are written; its source and number are for what is told when it is none.

    >>> parse_object('{"time": 1, "load": 1e400, "on": true, "note": null}', "a.jsonl", 1)
    {'time': '1', 'load': '1e400', 'on': True, 'note': None}
    """
    try:
        row = DECODER.decode(line)
    except (ValueError, RecursionError) as problem:
        raise ValueError(
            f"{source}, line {number:,} is no JSON: {problem}.\n  JSON lines have one whole object a line."
        ) from None
    if not isinstance(row, dict):
        raise ValueError(
            f'{source}, line {number:,} is JSON, but no object such as {{"time": "2014-02-14", "load": 1.5}}.\n'
            "  JSON lines have one whole object a line. A list of objects is cut into lines with: jq -c '.[]'"
        )
    return row


def as_cell(value: Any) -> str | None:
    """A value as text: true, false, and what is nested, as JSON writes them.

    >>> as_cell("1.5"), as_cell(True), as_cell(["1", "2"])
    ('1.5', 'true', '["1", "2"]')
    """
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _column(values: list[Any]) -> pl.Series:
    try:
        return pl.Series(values, dtype=pl.String)
    except TypeError:  # one of them is no text
        return pl.Series([as_cell(value) for value in values], dtype=pl.String)
