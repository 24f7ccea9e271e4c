"""A study that is finished without any training."""

from __future__ import annotations

from scripted import COST

from locant.engine.attempt import Done
from locant.engine.driver import Driver
from locant.results.reading import read_study
from locant.results.store import Store
from locant.tasks.base import facts, make_task


def finished(folder, name, metrics_of, /, **changes):
    """A study whose runs gave what `metrics_of` says, without any training."""
    study = read_study(name, changes={"search": False, **changes})
    store = Store(folder / "runs.sqlite")

    def compute(runs):
        for run in runs:
            metrics = {"validation": 0.5, **metrics_of(run.name, run.seed)}
            history = [{"step": step, "accuracy": step / 100} for step in (50, 90, 95)] if not run.baseline else []
            yield Done(run, metrics, history, {} if run.baseline else COST, "", {"seed": run.seed})

    known = facts(make_task(study.task, **study.task_options))
    return store, Driver(study, store, compute).finish(known, f"locant compare {name}")
