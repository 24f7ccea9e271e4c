"""`locant compare --data`: from a user's file to the study that fits it, with what was understood of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from locant._internal.checks import listed, one_of

SERIES = (
    ".csv",
    ".tsv",
    ".parquet",
    ".jsonl",
    ".ndjson",
    ".csv.gz",
    ".tsv.gz",
    ".jsonl.gz",
    ".ndjson.gz",
)
OBJECTIVES = {"masked": "own-masked", "forecast": "own-forecast", "text": "own-text"}


def own_study(
    data: Path,
    *,
    objective: str | None = None,
    train_length: int | None = None,
    test_lengths: str | None = None,
    time: str | None = None,
    columns: str | None = None,
) -> tuple[str, dict[str, Any]]:
    """The study for a file and the fields to change in it. What was understood of a series is printed to stderr."""
    from locant.anomaly.series.input_file import find_file

    find_file(data)
    if objective is None:
        objective = "masked" if data.name.lower().endswith(SERIES) else "text"
    one_of("compare", "objective", objective, tuple(OBJECTIVES))
    changes: dict[str, Any] = {"task_options.path": str(data.resolve())}
    if train_length is not None:
        changes["task_options.length"] = train_length
    if objective == "text":
        for name, value in (("--time", time), ("--columns", columns)):
            if value is not None:
                raise ValueError(
                    f"{name} is for series, but {data.name} is compared as text. Give --objective masked."
                )
        changes |= _longer(test_lengths, train_length)
        return OBJECTIVES[objective], changes
    if test_lengths is not None:
        raise ValueError(
            "--test-lengths is for text: windows of a series are judged at the length that was trained."
        )
    if time is not None:
        changes["task_options.time"] = time
    if columns is not None:
        changes["task_options.columns"] = listed("--columns", columns)
    _tell(data, time, changes.get("task_options.columns"))
    return OBJECTIVES[objective], changes


def _longer(test_lengths: str | None, train_length: int | None) -> dict[str, Any]:
    """Lengths to be judged at, and their columns in the report; twice the training length by default."""
    if test_lengths is None and train_length is None:
        return {}
    try:
        lengths = (
            [int(part) for part in listed("--test-lengths", test_lengths)]
            if test_lengths
            else [2 * (train_length or 0)]
        )
    except ValueError:
        raise ValueError(
            f"--test-lengths needs whole numbers with commas, such as 256,512. Got {test_lengths!r}."
        ) from None
    return {
        "task_options.longer": lengths,
        "details": [f"bits a byte at {length}" for length in lengths],
    }


def _tell(data: Path, time: str | None, columns: list[str] | None) -> None:
    from locant.anomaly.series import read_series
    from locant.cli._detection import print_series

    print_series(read_series(data, time=time, columns=columns), Console(stderr=True, markup=False))
