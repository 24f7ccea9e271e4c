"""Missing duplicate: a string stands twice, the second time with holes; which symbols are missing?

The alphabet has two symbols, so a hole's neighbors occur at many points of the string: to answer,
a causal model must look back by the length of the string, which varies.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from locant._internal.checks import share
from locant.lab.tasks._sequence_task import IGNORE_INDEX
from locant.lab.tasks._string_task import MARKS, StringTask
from locant.lab.tasks.base import Batch


@dataclass(frozen=True)
class MissingDuplicate(StringTask):
    """Rows START s SEPARATOR s′: s′ is s with holes, and the target at a hole is its symbol.

    holes  the share of symbols that are missing; one symbol of a row always is

    >>> from locant.lab.tasks.base import generator
    >>> task = MissingDuplicate(length=10, shortest=4)
    >>> rows = task.sample(50, generator("doctest"))
    >>> hole = rows.inputs == task.symbols - 1
    >>> bool((rows.inputs.roll(5, 1)[hole] == rows.target[hole]).all())
    True
    """

    alphabet: int = 2
    holes: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        share("missing-duplicate", "holes", self.holes)

    @property
    def symbols(self) -> int:
        return self.alphabet + MARKS + 1

    def answer(self, string: Tensor, size: Tensor) -> Tensor:
        return string

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        whole = super().sample(count, draw)
        in_copy = whole.target.roll(1, 1) != IGNORE_INDEX  # the tokens that answers would be
        noise = torch.rand(whole.inputs.shape, generator=draw).masked_fill(~in_copy, 2.0)
        hole = noise < self.holes
        hole |= noise == noise.min(1, keepdim=True).values
        inputs = whole.inputs.masked_fill(hole, self.symbols - 1)
        return Batch(inputs, torch.where(hole, whole.inputs, IGNORE_INDEX))
