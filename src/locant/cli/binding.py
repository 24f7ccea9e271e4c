"""A study bound to its data: what is wrong in it is told before anything trains."""

from __future__ import annotations

from locant._internal.checks import one_of
from locant.encodings.registry import describe, names
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import RowConfig, Study
from locant.lab.tasks import base
from locant.lab.training.config import RunConfig


def identified(plan: Study) -> Study:
    """The study, bound to what its files hold now."""
    options = base.identified(plan.task, plan.task_options)
    return _numbered(
        plan.model_copy(update={"task_options": options}), base.make_task(plan.task, **options)
    )


def _numbered(plan: Study, task: base.Task) -> Study:
    """The study with its seeds counted; those of a task on given things are numbers of them."""
    if not isinstance(task, base.EnumeratedTask):
        if plan.seeds == "all":
            raise ValueError(
                f'{plan.name} asks for seeds = "all", but {plan.task} has no end of them: give how many.'
            )
        return plan
    there = len(task.names())
    if plan.search is not None:
        raise ValueError(
            f"{plan.name} cannot search: all its {plan.unit} are reported, and none is left to choose by."
        )
    if plan.seeds == "all":
        return plan.model_copy(update={"seeds": there})
    if max(plan.seed_list()) >= there:
        raise ValueError(
            f"{plan.name} has {there} {plan.unit}, numbered from 0, but number {max(plan.seed_list())} is asked for.\n"
            f"  Ask for fewer: --seeds {there}"
        )
    return plan


def known_facts(plan: Study) -> TaskFacts:
    """What is known of a study's task; wrong options, baselines and encodings that cannot be made are told here."""
    task = base.make_task(plan.task, **plan.task_options)
    for name in plan.baselines:
        one_of(plan.task, "baselines", name, task.baselines)
    for row in plan.rows():
        if row.positions == "times":
            _can_tell_time(row, task, plan.seed_list()[0])
        if not row.baseline:
            _can_be_built(plan.run(row, plan.seed_list()[0]), task)
    return TaskFacts.of(task)


def _can_be_built(run: RunConfig, task: base.Task) -> None:
    """Whether the model of a row can be made; the class may be a user's own, and fail in any way."""
    from locant.lab.training.build import build

    try:
        build(run, task)
    except Exception as problem:
        raise ValueError(
            f"{run.name} cannot be built: {type(problem).__name__}: {problem}"
        ) from None


def _can_tell_time(row: RowConfig, task: base.Task, seed: int) -> None:
    """Whether positions by the clock are there, and are something for the encoding."""
    if task.example(seed).times is None:
        raise ValueError(
            f'{row.name} asks for positions = "times", but the data of this task have none.'
        )
    if not describe(row.encoding).claims["real_positions"]:
        raise ValueError(
            f'{row.name} asks for positions = "times", but {row.encoding} takes whole numbers alone.\n'
            f"  These take any: {', '.join(name for name in names() if describe(name).claims['real_positions'])}"
        )
