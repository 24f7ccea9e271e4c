"""Parity: is the order of three markers an even or an odd permutation?

Every row holds one A, one B and one C. Turning a row round makes an even order odd, so a model that cannot tell left
from right is at chance exactly, and so is one without positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Placement
from locant.lab.tasks._rows import Rows, distinct_places, scatter_markers
from locant.lab.tasks.base import Batch


@dataclass(frozen=True)
class Parity(Rows):
    """Rows of tokens, label 1 when the order of A, B, C (tokens 0, 1, 2) is an odd permutation.

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
        places = distinct_places(count, self.length, 3, draw)
        a, b, c = places.unbind(1)
        inversions = (a > b).long() + (a > c).long() + (b > c).long()
        return Batch(scatter_markers(tokens, places, [0, 1, 2]), inversions % 2)

    def placements(self) -> Iterator[Placement]:
        triples = list(permutations(range(self.length), 3))
        for a, b, c in triples:
            odd = ((a > b) + (a > c) + (b > c)) % 2
            yield Placement(((0, a), (1, b), (2, c)), odd, 1 / len(triples))
