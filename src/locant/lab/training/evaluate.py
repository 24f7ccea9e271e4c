"""One run from settings to scores: train, load the best weights, test once."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import torch

from locant.lab.tasks.base import make_task
from locant.lab.training.artifacts import keep_files, run_notes
from locant.lab.training.config import RunConfig
from locant.lab.training.peak_memory import forget_peak
from locant.lab.training.run_result import RunResult
from locant.lab.training.trainer import CHECKPOINT_SECONDS, Predictor, Trainer


def execute(
    run: RunConfig,
    folder: Path | None = None,
    *,
    keep: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> RunResult:
    """Train and test one run. The same settings give the same metrics, bit for bit.

    folder              where a long run writes checkpoints and resumes from; removed at the end
    keep                write files there: settings, history, metrics, scores, best and last weights
    checkpoint_seconds  the least time between two checkpoints
    """
    torch.set_num_threads(1)
    task = make_task(run.task, **run.task_options)
    if run.baseline:
        return RunResult(metrics=task.baseline(run.baseline, run.training.test, run.seed))
    forget_peak()
    with torch.random.fork_rng(devices=[]):
        return train_and_test(Trainer(run, task, folder, checkpoint_seconds), keep=keep)


def train_and_test(trainer: Trainer, *, keep: bool = False) -> RunResult:
    """Train to the end and test the best weights; an abandoned run is not tested."""
    run, task, model = trainer.run, trainer.task, trainer.model
    trainer.fit()
    if trainer.abandoned:
        trainer.remove_checkpoint()
        metrics = trainer.validation_metrics()
        return RunResult(metrics=metrics, history=trainer.history, cost=trainer.cost())
    last = copy.deepcopy(model.state_dict())
    model.load_state_dict(trainer.best_weights)
    tested = task.test(Predictor(model, run, "test"), run.training.test, run.seed)
    metrics = {**tested.scores, **trainer.validation_metrics()}
    not_finite = [name for name, value in metrics.items() if not math.isfinite(value)]
    if not_finite:
        raise FloatingPointError(f"these scores are not finite: {', '.join(not_finite)}")
    cost = trainer.cost()
    notes = run_notes(model, run, task, tested.columns)
    result = RunResult(metrics=metrics, history=trainer.history, cost=cost, notes=notes)
    if keep and trainer.folder is not None:
        best = trainer.best_weights
        keep_files(trainer.folder, run, result, tested.columns, best=best, last=last)
    trainer.remove_checkpoint()
    return result
