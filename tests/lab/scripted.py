"""A study that is kept without any training, and the command line without a process of its own:
both in no time."""

from __future__ import annotations

from pathlib import Path

import pytest
from common_lab import write_tiny

from locant.cli.app import app
from locant.lab.engine.driver import Compute, Driver
from locant.lab.store.store import Store
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study_files import read_study
from locant.lab.tasks.base import make_task
from locant.lab.training.run_result import RunResult

COST = {"parameters": 8.0, "seconds_a_step": 0.001, "peak_megabytes": 1.0}


def compute(runs):
    """An engine that trains nothing. What it says of a run depends on the run alone."""
    for run in runs:
        value = int(run.digest(), 16) / 16**16
        history = [
            {"step": step, "accuracy": value * step / 12, "train_loss": 1 - value}
            for step in (6, 12)
        ]
        yield RunResult.done(run, {"accuracy": value, "validation": value / 2}, history, COST)


def keep_study(path: Path, engine: Compute = compute, **changes) -> Store:
    """Bring the tiny study to its end in the store at `path`."""
    study, store = read_study(str(write_tiny(path.parent)), changes=changes), Store(path)
    Driver(study, store, engine).finish(
        TaskFacts.of(make_task(study.task, **study.task_options)), "locant compare tiny.toml"
    )
    return store


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that must end with status 2 and a sentence."""
    with pytest.raises(SystemExit) as end:
        app(words)
    said = capsys.readouterr().err
    assert end.value.code == 2, said
    assert said.startswith("locant: ")
    assert said.count("\n") <= 2  # what happened; and what to do
    return said
