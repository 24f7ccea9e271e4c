"""Lag: which symbol was k positions back? A causal model must look at one exact distance."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from locant._internal.checks import whole_number
from locant.lab.tasks._token_task import TokenTask
from locant.lab.tasks.base import Batch, Scores

IGNORE_INDEX = -100  # torch's own mark of a target that is not scored


@dataclass(frozen=True)
class Lag(TokenTask):
    """Rows of random symbols; the target at t is the symbol at t − back (the first `back` are not
    scored).

    >>> rows = Lag(length=6, back=2).sample(1, torch.Generator().manual_seed(0))
    >>> bool((rows.target[0, 2:] == rows.inputs[0, :-2]).all()), rows.target[0, :2].tolist()
    (True, [-100, -100])
    """

    length: int = 32
    symbols: int = 16
    back: int = 5
    longer: tuple[int, ...] = ()

    pool = False
    causal = True
    baselines = ()

    def __post_init__(self) -> None:
        whole_number("lag", "symbols", self.symbols, least=2)
        whole_number("lag", "back", self.back)
        whole_number("lag", "length", self.length, least=self.back + 1)

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.symbols

    def ceilings(self) -> Scores:
        """Return no ceiling: a causal model finds its way to some extent without positions."""
        return {}

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(0, self.symbols, (count, self.length), generator=draw)
        target = torch.full_like(tokens, IGNORE_INDEX)
        target[:, self.back :] = tokens[:, : -self.back]
        return Batch(tokens, target)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output.flatten(0, 1), target.flatten())

    def score(self, output: Tensor, target: Tensor) -> Scores:
        scored = target != IGNORE_INDEX
        right = (output.argmax(-1) == target)[scored].double().mean().item()
        return {"accuracy": right, "loss": self.loss(output, target).item()}
