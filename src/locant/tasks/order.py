"""Order: which of two markers comes first?

Every row holds one A and one B among symbols drawn at random, so a model that cannot see order is at chance exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Order:
    """Rows of tokens, label 1 when A (token 0) stands before B (token 1).

    >>> tokens, label = Order(length=6).sample(4, torch.Generator().manual_seed(0))
    >>> tokens.shape, bool(((tokens == 0).sum(1) == 1).all())
    (torch.Size([4, 6]), True)
    """

    length: int = 32
    symbols: int = 20
    classes: int = 2
    chance: float = 0.5

    def sample(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Tokens (count, length) and labels (count)."""
        tokens = torch.randint(2, self.symbols, (count, self.length), generator=generator)
        spots = torch.rand(count, self.length, generator=generator).argsort(-1)[:, :2]
        tokens.scatter_(1, spots, torch.tensor([[0, 1]]).expand(count, 2))
        return tokens, (spots[:, 0] < spots[:, 1]).long()
