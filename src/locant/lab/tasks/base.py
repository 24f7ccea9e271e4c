"""What every task offers: training batches, scores on unseen data, plain baselines, and what no positions can reach."""

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
    """Inputs (B,T) or (B,T,features), what is asked of them, and which tokens are real (B,T), all by default.

    times  where a clock says that the tokens are, (B,T), in usual steps, for rows that ask for it
    """

    inputs: Tensor
    target: Tensor
    real: Tensor | None = None
    times: Tensor | None = None


class Tested(NamedTuple):
    """Scores on test data, and the columns of a table, one entry for each thing that was judged, for people to open."""

    scores: Scores
    columns: dict[str, list[Any]]


class Predict(Protocol):
    """A trained model: inputs, which tokens are real and where a clock says they are → outputs."""

    def __call__(
        self, inputs: Tensor, real: Tensor | None, times: Tensor | None = None, /
    ) -> Tensor: ...


class Task(Protocol):
    """A question put to a model. A task knows no encoding and no model; all its data come from a seed."""

    length: int  # tokens in a training row
    reach: int  # tokens in the longest row that is ever asked
    symbols: int  # how many different tokens; 0 when inputs are numbers
    features: int  # numbers in an input, when inputs are numbers
    outputs: int  # how many numbers a model gives
    pool: bool  # one answer a row (True) or one a token (False)
    causal: bool
    metric: str  # the score that decides
    higher_is_better: bool
    tested_on: (
        str  # the data that decide: "unseen data", unless a published protocol has it otherwise
    )
    chooses: str  # the score of validation that chooses the best step and the best rates
    chooses_higher: bool
    chance: float
    threshold: float  # the score at which the task counts as learnt
    baselines: tuple[str, ...]  # plain methods that a table must be compared with
    oracles: tuple[str, ...]  # those of them that know what no method can know

    def ceilings(self) -> Scores:
        """The best possible scores by what a model can see; "without positions" among them where it is known."""

    def batch(self, count: int, seed: int, step: int) -> Batch:
        """The training batch of a step."""

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """What training lowers."""

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        """`chooses` and others on data that are used to choose."""

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        """`metric` and others on data that are used once."""

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        """The same scores of a plain method on the same test data."""

    def example(self, seed: int) -> Batch:
        """A few test rows for pictures."""


@runtime_checkable
class Measured(Protocol):
    """A task whose data lie in a file, which may change."""

    digest: str

    def measured(self) -> str:
        """The digest of what the file holds now."""


@runtime_checkable
class Counted(Protocol):
    """A task on given things, such as real series, in a fixed order: the seed of a run is the number of one of them."""

    def names(self) -> tuple[str, ...]:
        """What they are called."""


def generator(purpose: str, *numbers: int) -> torch.Generator:
    """Random numbers for one purpose."""
    return torch.Generator().manual_seed(stable_seed(purpose, *numbers))


def identified(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options with the digest of the data they name, so that other data are another task."""
    task = make_task(name, **options)
    return {**options, "digest": task.measured()} if isinstance(task, Measured) else options


def task_names() -> list[str]:
    """The tasks that there are.

    >>> "order" in task_names()
    True
    """
    own = (
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
    )
    return sorted(name.replace("_", "-") for name in own if name != "base")


def make_task(name: str, **options: Any) -> Task:
    """A task by name, with its options.

    >>> make_task("order", length=12).length
    12
    """
    if name not in task_names():
        raise ValueError(
            f"no task is called {name!r}.{did_you_mean(name, task_names())}\n  Known: {', '.join(task_names())}"
        )
    path, class_name = task_source(name)
    cls = getattr(importlib.import_module(f"locant.lab.tasks.{path.stem}"), class_name)
    allowed = [field.name for field in fields(cls)]
    for option in options:
        if option not in allowed:
            raise ValueError(
                f"the task {name} has no option {option!r}.{did_you_mean(option, allowed)}\n  Its options: {', '.join(allowed)}"
            )
    try:
        return cls(
            **{option: tuple(v) if isinstance(v, list) else v for option, v in options.items()}
        )
    except TypeError as problem:
        raise ValueError(f"the task {name} cannot be made with {options}: {problem}.") from None
