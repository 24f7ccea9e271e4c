"""Compute one run wherever it is asked for: its result, or its error as a result; no exception."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from pathlib import Path

from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult


@dataclass(frozen=True)
class RunFiles:
    """The folder in which runs leave files, and whether they leave more than checkpoints there."""

    folder: str
    keep: bool = False

    def folder_of(self, run: RunConfig) -> Path:
        """Return the folder of one run."""
        return Path(self.folder) / f"{run.digest()}-{run.code()}"


def attempt(run: RunConfig, files: RunFiles | None = None) -> RunResult:
    """Compute a run. What goes wrong becomes a failed result, or a refused one when it was the
    disk."""
    from locant.lab.training.evaluate import execute

    try:
        folder = files.folder_of(run) if files else None
        return execute(run, folder, keep=files is not None and files.keep).of(run)
    except OSError as problem:
        reason = f"{problem.filename or 'a file'}: {problem.strerror or problem}"
        return RunResult.failed(run, reason, status="refused")
    except Exception as problem:
        last = traceback.extract_tb(problem.__traceback__)[-1]
        line = f"{os.path.basename(last.filename)}:{last.lineno}"
        return RunResult.failed(run, f"{type(problem).__name__}: {problem} (in {line})")
