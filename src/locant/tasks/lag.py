"""Lag: which symbol stood k places back? A causal model must look at one exact distance."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Lag:
    """Rows of random symbols; the target at t is the symbol at t − back (the first `back` places are not asked: −100).

    >>> tokens, target = Lag(length=6, back=2).sample(1, torch.Generator().manual_seed(0))
    >>> bool((target[0, 2:] == tokens[0, :-2]).all()), target[0, :2].tolist()
    (True, [-100, -100])
    """

    length: int = 32
    symbols: int = 16
    back: int = 5

    def sample(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tokens and targets, both (count, length)."""
        tokens = torch.randint(0, self.symbols, (count, self.length), generator=generator)
        target = torch.full_like(tokens, -100)
        target[:, self.back :] = tokens[:, : -self.back]
        return tokens, target
