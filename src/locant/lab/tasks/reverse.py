"""Reverse: say a string backward. The distance to look back grows by two with every answer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from locant.lab.tasks._string_task import StringTask


@dataclass(frozen=True)
class Reverse(StringTask):
    """The answer is the string from its last symbol to its first.

    >>> from locant.lab.tasks.base import generator
    >>> row = Reverse(length=8, shortest=3).sample(1, generator("doctest")).inputs[0]
    >>> row[1:4].tolist() == row[5:8].flip(0).tolist()
    True
    """

    def answer(self, string: Tensor, size: Tensor) -> Tensor:
        backward = size - 1 - torch.arange(string.shape[1])  # (B, longest)
        return string.gather(1, backward.clamp(min=0))
