"""Copy: say a string again. A causal model must look back by the length of the string, which
varies."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from locant.lab.tasks._string_task import StringTask


@dataclass(frozen=True)
class Copy(StringTask):
    """The answer is the string itself.

    >>> from locant.lab.tasks.base import generator
    >>> row = Copy(length=8, shortest=3).sample(1, generator("doctest")).inputs[0]
    >>> row[1:4].tolist() == row[5:8].tolist()
    True
    """

    def answer(self, string: Tensor, size: Tensor) -> Tensor:
        return string
