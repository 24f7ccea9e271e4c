"""The settings of a run small enough for tests."""

from __future__ import annotations

from locant.lab.training.config import RunConfig


def run(encoding="rotary", **more):
    model = {"dim": 16, "heads": 2, "layers": 1, "ffn": 16}
    training = {
        "steps": 12,
        "batch": 4,
        "validate_every": 6,
        "validation": 16,
        "test": 32,
        "warm_up": 4,
    }
    fields = {
        "task": "order",
        "task_options": {"length": 8, "symbols": 5},
        "name": encoding,
        "encoding": encoding,
    }
    return RunConfig(**{**fields, "seed": 3, "model": model, "training": training, **more})
