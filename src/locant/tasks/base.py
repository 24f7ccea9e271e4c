"""What every task offers: examples drawn from a seed, a loss, a score, and what a model without positions can reach."""

from __future__ import annotations

import importlib
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from locant.errors import did_you_mean


class Batch(NamedTuple):
    """Inputs (B,T) or (B,T,features) and what is asked of them."""

    inputs: Tensor
    target: Tensor


class Task(Protocol):
    """A question put to a model. A task knows no encoding and no model."""

    length: int  # tokens in a row
    symbols: int  # how many different tokens
    outputs: int  # how many numbers a model gives
    pool: bool  # one answer a row (True) or one a token (False)
    causal: bool
    metric: str  # the score that decides
    higher_is_better: bool
    ceiling: float  # the best that a model without positions can reach
    chance: float

    def sample(self, count: int, generator: torch.Generator) -> Batch:
        """So many rows, all from the generator."""

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """What training lowers."""

    def score(self, output: Tensor, target: Tensor) -> dict[str, float]:
        """The metrics of outputs, `metric` among them."""


def task_names() -> list[str]:
    """The tasks that there are.

    >>> "order" in task_names()
    True
    """
    return sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in ("__init__", "base"))


def make_task(name: str, **options: Any) -> Task:
    """A task by name, with its options.

    >>> make_task("order", length=12).length
    12
    """
    if name not in task_names():
        raise ValueError(
            f"no task is called {name!r}.{did_you_mean(name, task_names())}\n  Known: {', '.join(task_names())}"
        )
    cls = getattr(importlib.import_module(f"locant.tasks.{name}"), name.title().replace("-", ""))
    allowed = [field.name for field in fields(cls)]
    for option in options:
        if option not in allowed:
            raise ValueError(
                f"the task {name} has no option {option!r}.{did_you_mean(option, allowed)}\n  Its options: {', '.join(allowed)}"
            )
    return cls(**options)
