"""Bucket sort: say the symbols of a string in order. It takes counting, and no positions in the
string.

Long answers are runs of equal symbols, so the plain accuracy of repeating the last answer would
come near 1. The score here is the mean of two shares: right answers where the symbol stays, and
where it changes. Always repeating, or always moving on to the next symbol, gives one half at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from locant.lab.tasks._sequence_task import IGNORE_INDEX
from locant.lab.tasks._string_task import StringTask
from locant.lab.tasks.base import Scores


@dataclass(frozen=True)
class BucketSort(StringTask):
    """The answer is the string, sorted.

    >>> from locant.lab.tasks.base import generator
    >>> row = BucketSort(length=8, shortest=3).sample(1, generator("doctest")).inputs[0]
    >>> row[1:4].sort().values.tolist() == row[5:8].tolist()
    True
    """

    alphabet: int = 4

    chance = 0.5

    def answer(self, string: Tensor, size: Tensor) -> Tensor:
        behind = torch.arange(string.shape[1]) >= size
        return string.masked_fill(behind, self.alphabet).sort(1).values

    def score(self, output: Tensor, target: Tensor) -> Scores:
        """Take the mean of the accuracy where the symbol stays and where it changes."""
        scored = target != IGNORE_INDEX
        before = target.roll(1, 1)
        before[:, 0] = IGNORE_INDEX
        stays = scored & (target == before)
        right = (output.argmax(-1) == target).double()
        parts = [right[some].mean() for some in (stays, scored & ~stays) if bool(some.any())]
        return {**super().score(output, target), "accuracy": torch.stack(parts).mean().item()}
