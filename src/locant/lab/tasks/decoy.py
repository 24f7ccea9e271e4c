"""Decoy: two pairs look alike, and only where they stand tells which one counts.

The pair that counts has v at place 11 and w at 20. The decoy has the same v and the other w at the same distance, 9,
somewhere else. Distances alone cannot tell the two pairs apart; a place in the row can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Placement
from locant.lab.tasks._rows import Rows
from locant.lab.tasks.base import Batch

HERE, THERE = 11, 20  # where the pair that counts stands
APART = THERE - HERE
STARTS = [
    q for q in range(32 - APART) if q not in (HERE - APART, HERE, THERE)
]  # the decoy never touches it
FIRST, SECOND = (0, 1), (2, 3)  # the tokens v0, v1 and w0, w1


@dataclass(frozen=True)
class Decoy(Rows):
    """Rows of tokens; the label is i xor j for v_i at 11 and w_j at 20, with v_i and w_(1−j) as a decoy pair.

    >>> rows = Decoy().sample(3, torch.Generator().manual_seed(0))
    >>> torch.equal(rows.inputs[:, 11] ^ (rows.inputs[:, 20] - 2), rows.target)
    True
    """

    length: int = 32
    symbols: int = 20
    longer: tuple[int, ...] = ()

    outputs = 2

    def __post_init__(self) -> None:
        whole_number("decoy", "length", self.length, least=32)
        whole_number("decoy", "symbols", self.symbols, least=5)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(4, self.symbols, (count, self.length), generator=draw)
        i, j = torch.randint(2, (2, count), generator=draw)
        start = torch.tensor(STARTS)[torch.randint(len(STARTS), (count,), generator=draw)]
        here = torch.full((count,), HERE)
        places = torch.stack([here, here + APART, start, start + APART], 1)
        marks = torch.stack([i, 2 + j, i, 3 - j], 1)
        return Batch(tokens.scatter(1, places, marks), i ^ j)

    def placements(self) -> Iterator[Placement]:
        likely = 1 / (4 * len(STARTS))
        for i in FIRST:
            for j in (0, 1):
                for q in STARTS:
                    marks = ((i, HERE), (SECOND[j], THERE), (i, q), (SECOND[1 - j], q + APART))
                    yield Placement(tuple(sorted(marks)), i ^ j, likely)
