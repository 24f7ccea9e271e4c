"""Bind a study to its data, and find what is wrong in it before anything trains."""

from __future__ import annotations

import os
from pathlib import Path

from locant._internal.checks import one_of
from locant.encodings.registry import claiming, describe
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import RowConfig, Study
from locant.lab.tasks import NAB, SAMPLERS, base
from locant.lab.training.config import RunConfig

NAB_TASK = "real-anomalies"


def use_nab_folder(folder: Path, studies: list[Study]) -> None:
    """Tell tasks, in this process and its workers, which folder holds the real series.

    No run keeps the path of the folder: what the series hold counts.
    """
    for study in studies:
        if study.task != NAB_TASK:
            raise ValueError(
                f"--nab is for studies of the task {NAB_TASK}, but {study.name} is one of "
                f"{study.task}."
            )
    os.environ[NAB] = str(folder.expanduser().resolve())


def check_device(device: str) -> None:
    """Refuse a device that torch cannot compute on here."""
    import torch

    try:
        torch.zeros(1, device=device).item()
    except Exception as problem:  # each kind of device fails in its own way
        first = (str(problem) or type(problem).__name__).splitlines()[0]
        raise ValueError(
            f"the device {device!r} cannot be used here: {first}\n  Try --device cpu."
        ) from None


def bind(plan: Study) -> Study:
    """Return the study bound to what its files hold now, with its seeds counted."""
    options = base.identified(plan.task, plan.task_options)
    return _numbered(
        plan.model_copy(update={"task_options": options}), base.make_task(plan.task, **options)
    )


def _numbered(plan: Study, task: base.Task) -> Study:
    """Count the seeds of a study; the seeds of a task on given series are their numbers."""
    if not isinstance(task, base.EnumeratedTask):
        if plan.seeds == "all":
            raise ValueError(
                f'{plan.name} asks for seeds = "all", but {plan.task} has no end of them: '
                "give how many."
            )
        return plan
    there = len(task.names())
    if plan.search is not None:
        raise ValueError(
            f"{plan.name} cannot search: all its {plan.unit} are reported, and none is left to "
            "choose by."
        )
    if plan.seeds == "all":
        return plan.model_copy(update={"seeds": there})
    if max(plan.seed_list()) >= there:
        raise ValueError(
            f"{plan.name} has {there} {plan.unit}, numbered from 0, but number "
            f"{max(plan.seed_list())} is asked for.\n"
            f"  Ask for fewer: --seeds {there}"
        )
    return plan


def check_study(plan: Study) -> TaskFacts:
    """Return the facts of a study's task; refuse baselines and entrants that cannot be made."""
    task = base.make_task(plan.task, **plan.task_options)
    for name in plan.baselines:
        one_of(plan.task, "baselines", name, task.baselines)
    for row in plan.rows():
        if row.positions == "times":
            _check_times(row, task, plan.seed_list()[0])
        if row.positions in SAMPLERS:
            _check_sampler(plan, row)
        if not row.baseline:
            _check_model(plan.run(row, plan.seed_list()[0]))
    return TaskFacts.of(task)


def _check_model(run: RunConfig) -> None:
    """Refuse an entrant whose model cannot be made; a user's class may fail in any way."""
    from locant.lab.training.build import build

    try:
        build(run, base.make_task(run.task, **run.task_options))
    except Exception as problem:
        raise ValueError(
            f"{run.name} cannot be built: {type(problem).__name__}: {problem}"
        ) from None


def _check_sampler(plan: Study, row: RowConfig) -> None:
    """Refuse random positions where the task draws none."""
    offering = [name for name in base.task_names() if "sampler" in base.option_names(name)]
    if plan.task not in offering:
        raise ValueError(
            f"{row.name} asks for random positions, but the task {plan.task} draws none.\n"
            f"  These tasks do: {', '.join(offering)}"
        )


def _check_times(row: RowConfig, task: base.Task, seed: int) -> None:
    """Refuse positions by the clock where the data or the encoding have none."""
    if task.example(seed).times is None:
        raise ValueError(
            f'{row.name} asks for positions = "times", but the data of this task have none.'
        )
    if not describe(row.encoding).claims["real_positions"]:
        raise ValueError(
            f'{row.name} asks for positions = "times", but {row.encoding} takes whole numbers '
            f"alone.\n  These take any: {', '.join(claiming('real_positions'))}"
        )
