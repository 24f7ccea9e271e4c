"""Find the study that fits a user's own data: a file of series or text, a frame, or an array."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from locant._internal.checks import one_of
from locant._internal.files import write_atomically

PLAIN_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
SERIES_ENDINGS = (".parquet", *PLAIN_ENDINGS, *(f"{ending}.gz" for ending in PLAIN_ENDINGS))
OBJECTIVES = {"masked": "own-masked", "forecast": "own-forecast", "text": "own-text"}


def objective_of(data: Path, objective: str | None = None) -> str:
    """Return the objective that is asked for; by default the one that fits the file's name."""
    if objective is None:
        objective = "masked" if data.name.lower().endswith(SERIES_ENDINGS) else "text"
    return one_of("compare", "objective", objective, tuple(OBJECTIVES))


def own_study(
    data: Path,
    *,
    objective: str | None = None,
    train_length: int | None = None,
    test_lengths: Sequence[int] | None = None,
    time: str | None = None,
    columns: Sequence[str] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the name of the study for a file, and the fields to change in it."""
    from locant.anomaly.series.input_file import find_file

    find_file(data)
    objective = objective_of(data, objective)
    changes: dict[str, Any] = {"task_options.path": str(data.resolve())}
    if train_length is not None:
        changes["task_options.length"] = train_length
    if objective == "text":
        for name, value in (("time", time), ("columns", columns)):
            if value is not None:
                raise ValueError(
                    f"{name} is for series, but {data.name} is compared as text. "
                    "Choose the objective masked or forecast."
                )
        return OBJECTIVES[objective], changes | _test_lengths(test_lengths, train_length)
    if test_lengths is not None:
        raise ValueError(
            "test lengths are for text: windows of a series are tested at the length that was "
            "trained."
        )
    if time is not None:
        changes["task_options.time"] = time
    if columns is not None:
        changes["task_options.columns"] = list(columns)
    return OBJECTIVES[objective], changes


def _test_lengths(lengths: Sequence[int] | None, train_length: int | None) -> dict[str, Any]:
    """Return the lengths to test at, with their columns; twice the training length by default."""
    if lengths is None:
        if train_length is None:
            return {}
        lengths = [2 * train_length]
    details = [f"bits a byte at {length}" for length in lengths]
    return {"task_options.longer": list(lengths), "details": details}


def data_file(data: Any, folder: Path) -> Path:
    """Return the file of the data; a frame or an array is written to one, named by what it
    holds."""
    if isinstance(data, str | Path):
        return Path(data).expanduser()
    text = _as_csv(data).encode()
    path = folder / f"{hashlib.sha256(text).hexdigest()[:16]}.csv"
    if not path.exists():
        with write_atomically(path) as partial:
            partial.write_bytes(text)
    return path


def _as_csv(data: Any) -> str:
    import polars

    if isinstance(data, polars.DataFrame):
        return data.write_csv()
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "to_csv"):
        numbered = type(data.index).__name__ == "RangeIndex"
        return str(data.to_csv(index=not numbered))
    shape: tuple[int, ...] = getattr(data, "shape", ())
    if len(shape) not in (1, 2):
        raise ValueError(
            "data must be a path, a polars or pandas frame, or an array (steps) or "
            f"(steps, columns). Got {type(data).__name__} instead."
        )
    width = 1 if len(shape) == 1 else shape[1]
    names = [f"column {number}" for number in range(width)]
    lines = [line if isinstance(line, list) else [line] for line in data.tolist()]
    return polars.DataFrame(lines, schema=names, orient="row").write_csv()
