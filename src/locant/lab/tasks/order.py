"""Order: which of two markers comes first?

Every row holds one A and one B among random symbols, so a model that cannot see order is exactly at
chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Arrangement
from locant.lab.tasks._token_task import TokenTask, distinct_positions, scatter_markers
from locant.lab.tasks.base import Batch


@dataclass(frozen=True)
class Order(TokenTask):
    """Rows of tokens; the label is 1 when A (token 0) comes before B (token 1).

    >>> rows = Order(length=6).sample(4, torch.Generator().manual_seed(0))
    >>> rows.inputs.shape, bool(((rows.inputs == 0).sum(1) == 1).all())
    (torch.Size([4, 6]), True)
    """

    length: int = 32
    symbols: int = 20
    longer: tuple[int, ...] = ()

    outputs = 2

    def __post_init__(self) -> None:
        whole_number("order", "length", self.length, least=2)
        whole_number("order", "symbols", self.symbols, least=3)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(2, self.symbols, (count, self.length), generator=draw)
        pos = distinct_positions(count, self.length, 2, draw)  # (count, 2)
        label = (pos[:, 0] < pos[:, 1]).long()
        return Batch(scatter_markers(tokens, pos, [0, 1]), label)

    def arrangements(self) -> Iterator[Arrangement]:
        pairs = list(permutations(range(self.length), 2))
        for a, b in pairs:
            yield Arrangement(((0, a), (1, b)), int(a < b), 1 / len(pairs))
