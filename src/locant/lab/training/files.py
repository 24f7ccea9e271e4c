"""What one run leaves: numbers for the store, and files for people when a study asks for them."""

from __future__ import annotations

import csv
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from torch import Tensor

from locant.lab.training.checkpoint import write_tensors
from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult


def keep_files(
    folder: Path,
    run: RunConfig,
    result: RunResult,
    columns: dict[str, list[Any]],
    *,
    best: dict[str, Tensor],
    last: dict[str, Tensor],
) -> None:
    """config.json, metrics.json, history.csv, scores.csv, best.safetensors, last.safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    made_by = {"torch": version("torch"), "python": platform.python_version(), "code": run.code()}
    _write_json(folder / "config.json", {**run.model_dump(), "made_by": made_by})
    _write_json(folder / "metrics.json", {**result.metrics, "cost": result.cost})
    _write_csv(
        folder / "history.csv",
        {name: [e[name] for e in result.history] for name in result.history[0]},
    )
    _write_csv(folder / "scores.csv", columns)
    for name, weights in (("best", best), ("last", last)):
        write_tensors(folder / f"{name}.safetensors", weights, {"run": run.digest(), "step": name})


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _write_csv(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
