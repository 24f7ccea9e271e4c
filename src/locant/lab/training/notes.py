"""What pictures are made from: attention weights of one example, small enough to be kept with every run."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant.lab.tasks.base import Task
from locant.lab.training.build import StudyModel
from locant.lab.training.config import RunConfig
from locant.lab.training.places import Places


def notes(
    model: StudyModel, run: RunConfig, task: Task, columns: dict[str, list[Any]]
) -> dict[str, Any]:
    """The attention of every layer and head on the task's example, its reconstruction, and how scores are spread."""
    rows = task.example(run.seed)
    inputs = rows.inputs[:1]
    real, times = (None if one is None else one[:1] for one in (rows.real, rows.times))
    place = Places(run, "example")(inputs, real, times)
    model.eval()
    moved = [
        None if one is None else one.to(run.device) for one in (inputs, place.pos, real, place.see)
    ]
    with torch.no_grad():
        weights = model.forward_with_weights(*moved).weights  # type: ignore[arg-type]
        output = model(*moved).cpu()
    kept: dict[str, Any] = {"attention": packed(torch.stack([layer[0] for layer in weights]).cpu())}
    if not task.symbols:
        kept["reconstruction"] = {"target": _rounded(rows.target[0]), "output": _rounded(output[0])}
    if "score" in columns and "kind" in columns:
        kept["histogram"] = histogram(columns["score"], columns["kind"])
    return kept


def histogram(scores: list[float], kinds: list[int], bins: int = 40) -> dict[str, list[float]]:
    """How many points with and without a fault have a score in each bin, the bins even on a logarithmic scale.

    >>> histogram([1.0, 10.0, 10.0], [0, 0, 1], bins=2)
    {'edges': [1.0, 3.1623, 10.0], 'normal': [1, 1], 'faulty': [0, 1]}
    """
    values, faulty = np.asarray(scores, float), np.asarray(kinds) > 0
    low = max(values[values > 0].min(), values.max() * 1e-5) if (values > 0).any() else 1.0
    edges = np.geomspace(low, max(values.max(), low * 1.001), bins + 1)
    counts = [
        np.histogram(values[which].clip(edges[0], edges[-1]), edges)[0].tolist()
        for which in (~faulty, faulty)
    ]
    return {
        "edges": [float(f"{edge:.5g}") for edge in edges],
        "normal": counts[0],
        "faulty": counts[1],
    }


def _rounded(values: Tensor) -> list[list[float]]:
    return [[round(number, 3) for number in row] for row in values.tolist()]


def packed(values: Tensor) -> dict[str, Any]:
    """Numbers from 0 up as bytes, the largest of each last-two-dimensions block being 255; results/notes.py reads it."""
    top = values.amax((-2, -1), keepdim=True).clamp(min=1e-12)
    small = (values / top * 255).round().to(torch.uint8).contiguous()
    return {
        "shape": list(values.shape),
        "top": [round(float(t), 6) for t in top.flatten()],
        "bytes": base64.b64encode(small.numpy().tobytes()).decode("ascii"),
    }
