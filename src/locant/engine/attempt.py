"""One run tried, wherever it is computed: its outcome, or its error as a sentence. Never an exception."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from typing import Any

from locant.training.config import RunConfig


@dataclass(frozen=True)
class Done:
    """How a run ended: with an outcome's parts, or with an error."""

    run: RunConfig
    metrics: dict[str, float]
    history: list[dict[str, float]]
    cost: dict[str, float]
    error: str


def attempt(config: dict[str, Any]) -> tuple[dict[str, float], list[dict[str, float]], dict[str, float], str]:
    """Compute a run from its plain settings: metrics, history, cost, and an error or nothing."""
    from locant.training.evaluate import execute

    try:
        outcome = execute(RunConfig(**config))
    except Exception as problem:  # a failed run is a result, told as such
        where = traceback.extract_tb(problem.__traceback__)[-1]
        return {}, [], {}, f"{type(problem).__name__}: {problem} (in {os.path.basename(where.filename)}:{where.lineno})"
    return outcome.metrics, outcome.history, outcome.cost, ""
