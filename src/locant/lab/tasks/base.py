"""What every task offers: training batches, scores on unseen data, baselines, and ceilings."""

from __future__ import annotations

import importlib
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from locant._internal.checks import did_you_mean
from locant._internal.seeds import stable_seed
from locant.lab.tasks import task_source

Scores = dict[str, float]


class Batch(NamedTuple):
    """A batch of rows.

    inputs        tokens (B,T), or numbers (B,T,features)
    target        what a model should answer
    padding_mask  (B,T), True for tokens that count, False for padding; None when all count
    times         (B,T), the clock times of the tokens in usual steps, where the data have times
    """

    inputs: Tensor
    target: Tensor
    padding_mask: Tensor | None = None
    times: Tensor | None = None


class Evaluation(NamedTuple):
    """Scores on test data, and the columns of a table with one entry for each item that was
    scored."""

    scores: Scores
    columns: dict[str, list[Any]]


class Predict(Protocol):
    """A trained model as a task calls it: inputs, their padding mask and their times → outputs."""

    def __call__(
        self, inputs: Tensor, padding_mask: Tensor | None, times: Tensor | None = None, /
    ) -> Tensor: ...


class Task(Protocol):
    """A question put to a model. A task knows no encoding and no model; all its data come from a
    seed."""

    length: int  # tokens in a training row
    max_length: int  # tokens in the longest row of training, validation or test
    symbols: int  # the number of different tokens; 0 when inputs are numbers
    features: int  # numbers in an input, when inputs are numbers
    outputs: int  # numbers in an output
    pool: bool  # one output a row (True) or one a token (False)
    causal: bool
    metric: str  # the test score that decides
    higher_is_better: bool
    tested_on: str  # the data that decide
    selection_metric: str  # the validation score that selects the best step and learning rates
    selects_higher: bool  # whether a higher selection metric is better
    chance: float
    threshold: float  # the score at which the task counts as learned
    baselines: tuple[str, ...]  # methods without a model that a table is compared with
    oracles: tuple[str, ...]  # the baselines that know what no method can know

    def ceilings(self) -> Scores:
        """Return the best possible scores by what a model can see, such as "without positions"."""

    def batch(self, count: int, seed: int, step: int) -> Batch:
        """Draw the training batch of a step."""

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Compute the loss that training lowers."""

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        """Compute the selection metric and others on validation data."""

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Compute the metric and others on test data, which are used once."""

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        """Compute the same scores of a baseline on the same test data."""

    def example(self, seed: int) -> Batch:
        """Draw a few test rows for pictures."""


@runtime_checkable
class FileBackedTask(Protocol):
    """A task whose data are in a file, which may change."""

    digest: str

    def current_digest(self) -> str:
        """Compute the digest of what the file holds now."""


@runtime_checkable
class EnumeratedTask(Protocol):
    """A task on given items, such as real series, in a fixed order: the seed of a run is the number
    of an item."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the items."""


def generator(purpose: str, *numbers: int) -> torch.Generator:
    """Make a generator of random numbers for one purpose."""
    return torch.Generator().manual_seed(stable_seed(purpose, *numbers))


def identified(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Add the digest of a task's data to its options, so that other data are another task."""
    task = make_task(name, **options)
    if isinstance(task, FileBackedTask):
        return {**options, "digest": task.current_digest()}
    return options


def task_names() -> list[str]:
    """List the names of all tasks.

    >>> "order" in task_names()
    True
    """
    stems = [path.stem for path in Path(__file__).parent.glob("*.py")]
    tasks = [stem for stem in stems if not stem.startswith("_") and stem != "base"]
    return sorted(stem.replace("_", "-") for stem in tasks)


def option_names(name: str) -> list[str]:
    """List the options of a task.

    >>> "length" in option_names("order")
    True
    """
    path, class_name = task_source(name)
    cls = getattr(importlib.import_module(f"locant.lab.tasks.{path.stem}"), class_name)
    return [field.name for field in fields(cls)]


def make_task(name: str, **options: Any) -> Task:
    """Make a task by its name and options.

    >>> make_task("order", length=12).length
    12
    """
    known = task_names()
    if name not in known:
        raise ValueError(
            f"no task is called {name!r}.{did_you_mean(name, known)}\n  Known: {', '.join(known)}"
        )
    path, class_name = task_source(name)
    cls = getattr(importlib.import_module(f"locant.lab.tasks.{path.stem}"), class_name)
    allowed = [field.name for field in fields(cls)]
    for option in options:
        if option not in allowed:
            raise ValueError(
                f"the task {name} has no option {option!r}.{did_you_mean(option, allowed)}\n"
                f"  Its options: {', '.join(allowed)}"
            )
    hashable = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    try:
        return cls(**hashable)
    except TypeError as problem:
        raise ValueError(f"the task {name} cannot be made with {options}: {problem}.") from None
