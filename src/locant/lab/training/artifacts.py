"""Collect what one run leaves: numbers for the store, data for pictures, and files when a study
asks for them."""

from __future__ import annotations

import base64
import csv
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant.lab.tasks.base import Task
from locant.lab.training.build import StudyModel
from locant.lab.training.checkpoint import write_tensors
from locant.lab.training.config import RunConfig
from locant.lab.training.position_policy import PositionPolicy
from locant.lab.training.run_result import RunResult


def run_notes(
    model: StudyModel, run: RunConfig, task: Task, columns: dict[str, list[Any]]
) -> dict[str, Any]:
    """Collect what pictures need: attention on the task's example, its reconstruction, the spread
    of scores."""
    batch = task.example(run.seed)
    inputs = batch.inputs[:1]
    padding_mask = None if batch.padding_mask is None else batch.padding_mask[:1]
    times = None if batch.times is None else batch.times[:1]
    pos, attn_mask = PositionPolicy(run, "example")(inputs, padding_mask, times)
    model.eval()
    on_device = to_device(run.device, inputs, pos, padding_mask, attn_mask)
    with torch.no_grad():
        weights = model.forward_with_weights(*on_device).weights
        output = model(*on_device).cpu()
    attention = torch.stack([layer[0] for layer in weights]).cpu()  # (layers, H, T, T)
    notes: dict[str, Any] = {"attention": packed(attention)}
    if not task.symbols:
        notes["reconstruction"] = {
            "target": _rounded(batch.target[0]),
            "output": _rounded(output[0]),
        }
    if "score" in columns and "kind" in columns:
        notes["histogram"] = histogram(columns["score"], columns["kind"])
    return notes


def to_device(device: str, *tensors: Tensor | None) -> tuple[Any, ...]:
    """Move tensors to a device; None stays None."""
    return tuple(None if tensor is None else tensor.to(device) for tensor in tensors)


def histogram(scores: list[float], kinds: list[int], bins: int = 40) -> dict[str, list[float]]:
    """Count the points with and without a fault by their score, in bins that are even on a
    logarithmic scale.

    >>> histogram([1.0, 10.0, 10.0], [0, 0, 1], bins=2)
    {'edges': [1.0, 3.1623, 10.0], 'normal': [1, 1], 'faulty': [0, 1]}
    """
    values = np.asarray(scores, float)
    faulty = np.asarray(kinds) > 0
    low = 1.0
    if (values > 0).any():
        low = max(values[values > 0].min(), values.max() * 1e-5)
    edges = np.geomspace(low, max(values.max(), low * 1.001), bins + 1)
    inside = values.clip(edges[0], edges[-1])
    return {
        "edges": [float(f"{edge:.5g}") for edge in edges],
        "normal": np.histogram(inside[~faulty], edges)[0].tolist(),
        "faulty": np.histogram(inside[faulty], edges)[0].tolist(),
    }


def packed(values: Tensor) -> dict[str, Any]:
    """Store numbers from 0 up as bytes, 255 for the largest of each block of the last two
    dimensions.

    lab/store/note_arrays.py reads them again.
    """
    top = values.amax((-2, -1), keepdim=True).clamp(min=1e-12)
    small = (values / top * 255).round().to(torch.uint8).contiguous()
    return {
        "shape": list(values.shape),
        "top": [round(float(t), 6) for t in top.flatten()],
        "bytes": base64.b64encode(small.numpy().tobytes()).decode("ascii"),
    }


def keep_files(
    folder: Path,
    run: RunConfig,
    result: RunResult,
    columns: dict[str, list[Any]],
    *,
    best: dict[str, Tensor],
    last: dict[str, Tensor],
) -> None:
    """Write config.json, metrics.json, history.csv, scores.csv, best.safetensors and
    last.safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    made_by = {"torch": version("torch"), "python": platform.python_version(), "code": run.code()}
    _write_json(folder / "config.json", {**run.model_dump(), "made_by": made_by})
    _write_json(folder / "metrics.json", {**result.metrics, "cost": result.cost})
    history = {name: [e[name] for e in result.history] for name in result.history[0]}
    _write_csv(folder / "history.csv", history)
    _write_csv(folder / "scores.csv", columns)
    for name, weights in (("best", best), ("last", last)):
        write_tensors(folder / f"{name}.safetensors", weights, {"run": run.digest(), "step": name})


def _rounded(values: Tensor) -> list[list[float]]:
    return [[round(number, 3) for number in row] for row in values.tolist()]


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _write_csv(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
