"""Parity: is the order of three markers an even or an odd permutation?

Every row holds one A, one B and one C. Reversing a row turns an even order into an odd one, so a
model that cannot tell left from right is exactly at chance, and so is a model without positions.
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
class Parity(TokenTask):
    """Rows of tokens; the label is 1 when the order of A, B, C (tokens 0, 1, 2) is an odd
    permutation.

    >>> Parity().sample(2, torch.Generator().manual_seed(0)).inputs.shape
    torch.Size([2, 32])
    """

    length: int = 32
    symbols: int = 20
    longer: tuple[int, ...] = ()

    outputs = 2

    def __post_init__(self) -> None:
        whole_number("parity", "length", self.length, least=3)
        whole_number("parity", "symbols", self.symbols, least=4)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(3, self.symbols, (count, self.length), generator=draw)
        pos = distinct_positions(count, self.length, 3, draw)  # (count, 3)
        a, b, c = pos.unbind(1)
        inversions = (a > b).long() + (a > c).long() + (b > c).long()
        return Batch(scatter_markers(tokens, pos, [0, 1, 2]), inversions % 2)

    def arrangements(self) -> Iterator[Arrangement]:
        triples = list(permutations(range(self.length), 3))
        for a, b, c in triples:
            odd = ((a > b) + (a > c) + (b > c)) % 2
            yield Arrangement(((0, a), (1, b), (2, c)), odd, 1 / len(triples))
