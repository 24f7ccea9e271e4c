"""Lag: which symbol was k positions back? A causal model must look at one exact distance."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._sequence_task import IGNORE_INDEX, SequenceTask
from locant.lab.tasks.base import Batch


@dataclass(frozen=True)
class Lag(SequenceTask):
    """Rows of random symbols; the target at t is the symbol at t − back (the first `back` are not
    scored).

    >>> rows = Lag(length=6, back=2).sample(1, torch.Generator().manual_seed(0))
    >>> bool((rows.target[0, 2:] == rows.inputs[0, :-2]).all()), rows.target[0, :2].tolist()
    (True, [-100, -100])
    """

    symbols: int = 16
    back: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("lag", "symbols", self.symbols, least=2)
        whole_number("lag", "back", self.back)
        whole_number("lag", "length", self.length, least=self.back + 1)

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.symbols

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(0, self.symbols, (count, self.length), generator=draw)
        target = torch.full_like(tokens, IGNORE_INDEX)
        target[:, self.back :] = tokens[:, : -self.back]
        return Batch(tokens, target)
