"""What pictures are made from: attention weights of one example, small enough to be kept with every run."""

from __future__ import annotations

import base64
from typing import Any

import torch
from torch import Tensor

from locant.tasks.base import Task
from locant.training.build import StudyModel
from locant.training.config import RunConfig
from locant.training.places import Places


def notes(model: StudyModel, run: RunConfig, task: Task) -> dict[str, Any]:
    """The attention of every layer and head on the task's example."""
    rows = task.example(run.seed)
    inputs, real = rows.inputs[:1], None if rows.real is None else rows.real[:1]
    place = Places(run, "example")(inputs, real)
    model.eval()
    moved = [None if one is None else one.to(run.device) for one in (inputs, place.pos, real, place.see)]
    with torch.no_grad():
        weights = model.look(*moved).weights  # type: ignore[arg-type]
    return {"attention": packed(torch.stack([layer[0] for layer in weights]).cpu())}


def packed(values: Tensor) -> dict[str, Any]:
    """Numbers from 0 up as bytes, the largest of each last-two-dimensions block being 255; results/unpack.py reads it."""
    top = values.amax((-2, -1), keepdim=True).clamp(min=1e-12)
    small = (values / top * 255).round().to(torch.uint8).contiguous()
    return {
        "shape": list(values.shape),
        "top": [round(float(t), 6) for t in top.flatten()],
        "bytes": base64.b64encode(small.numpy().tobytes()).decode("ascii"),
    }
