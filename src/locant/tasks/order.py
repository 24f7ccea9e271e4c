"""Order: which of two markers comes first?

Every row holds one A and one B among symbols drawn at random, so a model that cannot see order is at chance exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from locant.errors import whole_number
from locant.tasks.base import Batch


@dataclass(frozen=True)
class Order:
    """Rows of tokens, label 1 when A (token 0) stands before B (token 1).

    >>> rows = Order(length=6).sample(4, torch.Generator().manual_seed(0))
    >>> rows.inputs.shape, bool(((rows.inputs == 0).sum(1) == 1).all())
    (torch.Size([4, 6]), True)
    """

    length: int = 32
    symbols: int = 20

    outputs = 2
    pool = True
    causal = False
    metric = "accuracy"
    higher_is_better = True
    ceiling = 0.5  # both orders hold the same tokens, equally often
    chance = 0.5

    def __post_init__(self) -> None:
        whole_number("order", "length", self.length, least=2)
        whole_number("order", "symbols", self.symbols, least=3)

    def sample(self, count: int, generator: torch.Generator) -> Batch:
        tokens = torch.randint(2, self.symbols, (count, self.length), generator=generator)
        spots = torch.rand(count, self.length, generator=generator).argsort(-1)[:, :2]
        tokens.scatter_(1, spots, torch.tensor([[0, 1]]).expand(count, 2))
        return Batch(tokens, (spots[:, 0] < spots[:, 1]).long())

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output, target)

    def score(self, output: Tensor, target: Tensor) -> dict[str, float]:
        right = (output.argmax(-1) == target).double().mean().item()
        return {"accuracy": right, "loss": cross_entropy(output, target).item()}
