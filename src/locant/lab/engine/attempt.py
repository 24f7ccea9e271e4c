"""One run tried, wherever it is computed: its outcome, or its error as a sentence. Never an exception."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from locant.lab.training.config import RunConfig


@dataclass(frozen=True)
class Done:
    """How a run ended: with an outcome's parts, or with an error."""

    run: RunConfig
    metrics: dict[str, float]
    history: list[dict[str, float]]
    cost: dict[str, float]
    error: str
    notes: dict[str, Any] = field(default_factory=dict)
    refused: str = ""  # what the system would not do (a full disk); no fault of the run


@dataclass(frozen=True)
class Files:
    """Where runs may leave files, each in a folder of its own, and whether they leave any but checkpoints."""

    folder: str
    keep: bool = False

    def of(self, run: RunConfig) -> Path:
        return Path(self.folder) / f"{run.digest()}-{run.code()}"


Said = tuple[dict[str, float], list[dict[str, float]], dict[str, float], str, dict[str, Any], str]


def attempt(config: dict[str, Any], files: Files | None = None) -> Said:
    """Compute a run from its plain settings: what `Done` holds beside the run."""
    from locant.lab.training.evaluate import execute

    try:
        run = RunConfig(**config)
        outcome = execute(
            run, files.of(run) if files else None, keep=files is not None and files.keep
        )
    except OSError as problem:
        return {}, [], {}, "", {}, f"{problem.filename or 'a file'}: {problem.strerror or problem}"
    except Exception as problem:  # a failed run is a result, told as such
        where = traceback.extract_tb(problem.__traceback__)[-1]
        said = f"{type(problem).__name__}: {problem} (in {os.path.basename(where.filename)}:{where.lineno})"
        return {}, [], {}, said, {}, ""
    return outcome.metrics, outcome.history, outcome.cost, "", outcome.notes, ""
