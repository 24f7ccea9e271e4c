"""Answer a string with a string: a mark, the string, a mark, then the answer symbol by symbol.

In training the true answer so far stands in the row (teacher forcing): the model predicts the next
symbol of it. Strings of every length up to the longest are trained; longer rows hold the longest
string that fits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from locant._internal.checks import whole_number
from locant.lab.tasks._sequence_task import IGNORE_INDEX, SequenceTask
from locant.lab.tasks.base import Batch, Scores

MARKS = 3  # start, separator and padding stand after the symbols of the alphabet


@dataclass(frozen=True)
class StringTask(SequenceTask):
    """Rows START s SEPARATOR y PADDING of `length` tokens; a subclass says what y is.

    alphabet  the number of symbols
    shortest  the fewest symbols of a string
    """

    alphabet: int = 16
    shortest: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("the task", "length", self.length, least=4)
        whole_number("the task", "alphabet", self.alphabet, least=2)
        whole_number("the task", "shortest", self.shortest, least=1)
        if self.shortest > self.longest:
            raise ValueError(
                f"rows of {self.length} tokens hold strings of up to {self.longest} symbols, but "
                f"shortest={self.shortest} was asked for.\n  Use a larger length."
            )

    @property
    def longest(self) -> int:
        """The most symbols of a string in a row of `length` tokens."""
        return self.length // 2 - 1

    @property
    def symbols(self) -> int:
        return self.alphabet + MARKS

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.alphabet

    def answer(self, string: Tensor, size: Tensor) -> Tensor:
        """Return the answers (B, longest) to strings (B, longest) with `size` (B,1) symbols each;
        what stands behind them is ignored."""
        raise NotImplementedError

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        start, separator, padding = range(self.alphabet, self.alphabet + MARKS)
        size = torch.randint(self.shortest, self.longest + 1, (count, 1), generator=draw)
        string = torch.randint(0, self.alphabet, (count, self.longest), generator=draw)
        answer = self.answer(string, size)
        column = torch.arange(self.length).expand(count, -1)
        in_string = (column >= 1) & (column <= size)
        in_answer = (column >= size + 2) & (column < 2 * size + 2)
        tokens = torch.full((count, self.length), padding)
        tokens[:, 0] = start
        tokens = torch.where(in_string, _at(string, column - 1), tokens)
        tokens = torch.where(column == size + 1, separator, tokens)
        tokens = torch.where(in_answer, _at(answer, column - size - 2), tokens)
        answered_next = (column >= size + 1) & (
            column < 2 * size + 1
        )  # the next token is an answer
        target = torch.where(answered_next, tokens.roll(-1, 1), IGNORE_INDEX)
        return Batch(tokens, target)

    def score(self, output: Tensor, target: Tensor) -> Scores:
        """Add the share of rows in which every answer is right."""
        wrong = (output.argmax(-1) != target) & (target != IGNORE_INDEX)
        exact = (~wrong.any(1)).double().mean().item()
        return {**super().score(output, target), "exact match": exact}

    def judged(self, target: Tensor) -> Tensor:
        """Leave all targets (B,T): the whole answer of a longer row counts."""
        return target

    def lengthened(self, length: int) -> Any:
        """Ask the same question of the longest strings that rows of another length hold."""
        return replace(self, length=length, longer=(), shortest=length // 2 - 1)


def _at(values: Tensor, index: Tensor) -> Tensor:
    """Take values (B,n) at an index (B,T); an index outside is moved to the nearest end."""
    return values.gather(1, index.clamp(0, values.shape[1] - 1))
