"""A file of anomalous stretches: a JSON list of [start, end], NAB's {"folder/file.csv": [[start, end], …]}, or a CSV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from locant._internal.checks import did_you_mean
from locant.anomaly.series.delimited import read_delimited
from locant.anomaly.series.opening import beginning, existing
from locant.anomaly.series.survey import survey

ALLOWED = 'a JSON list of [start, end], {"folder/file.csv": [[start, end], …]}, or a CSV with columns start and end'
Pairs = list[tuple[str, str]]


def read_windows(path: str | Path, series: Path, said: list[str]) -> Pairs:
    """The stretches that a file names for this series, as they are written."""
    found = existing(path)
    if beginning(found).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"[", b"{"):
        return _table(found)
    with survey(found).open() as file:
        try:
            content = json.load(file, parse_float=str, parse_int=str)
        except (ValueError, RecursionError) as problem:
            raise ValueError(
                f"{path} is no whole JSON: {problem}.\n  Windows are {ALLOWED}."
            ) from None
    if isinstance(content, dict):
        content = content[_key(found, list(content), series, said)]
    if not isinstance(content, list):
        raise ValueError(
            f"{path} holds {json.dumps(content)} where windows should be. Windows are {ALLOWED}."
        )
    return [_pair(found, number, item) for number, item in enumerate(content, 1)]


def _table(path: Path) -> Pairs:
    raw = read_delimited(survey(path))
    names = [name.lower() for name in raw.names]
    if not {"start", "end"} <= set(names):
        raise ValueError(f"{path} has the columns {', '.join(raw.names)}. Windows are {ALLOWED}.")
    start, end = (raw.columns[names.index(name)].fill_null("") for name in ("start", "end"))
    return [
        _pair(path, number, list(pair))
        for number, pair in enumerate(zip(start, end, strict=True), 1)
    ]


def _pair(path: Path, number: int, item: Any) -> tuple[str, str]:
    if not (
        isinstance(item, list)
        and len(item) == 2
        and all(isinstance(end, str) and end.strip() for end in item)
    ):
        raise ValueError(
            f"{path}: window {number} is {json.dumps(item)}, not [start, end]. Windows are {ALLOWED}."
        )
    return item[0], item[1]


def _key(path: Path, keys: list[str], series: Path, said: list[str]) -> str:
    """The key under which the windows of this series stand: the longest that its path ends with."""
    parts = Path(str(series.resolve()).removesuffix(".gz")).parts
    ends = [key for key in keys if (own := Path(key).parts) and parts[-len(own) :] == own]
    if ends:
        return max(ends, key=len)
    named = [key for key in keys if Path(key).name == parts[-1]]
    if len(named) == 1:
        said.append(
            f"The windows of {named[0]} were taken: the file's name is the same, its folder is another."
        )
        return named[0]
    raise ValueError(
        f"{path} has no windows for {series}.{did_you_mean('/'.join(parts[-2:]), keys)}\n"
        f"  It has {len(keys)} keys, each the end of a path: {', '.join(keys[:3])}{', …' if len(keys) > 3 else ''}"
    )
