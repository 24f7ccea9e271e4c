"""Decoy: two pairs look alike, and only their positions tell which one counts.

The pair that counts has v at position 11 and w at 20. The decoy has the same v and the other w at
the same distance, 9, somewhere else. Distances alone cannot tell the two pairs apart; a position
can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Arrangement
from locant.lab.tasks._token_task import TokenTask
from locant.lab.tasks.base import Batch

MIN_LENGTH = 32
V_POSITION, W_POSITION = 11, 20  # of the pair that counts
DISTANCE = W_POSITION - V_POSITION
OVERLAPPING = (V_POSITION - DISTANCE, V_POSITION, W_POSITION)  # starts that would touch the pair
DECOY_STARTS = [pos for pos in range(MIN_LENGTH - DISTANCE) if pos not in OVERLAPPING]
V_TOKENS, W_TOKENS = (0, 1), (2, 3)  # v0, v1 and w0, w1


@dataclass(frozen=True)
class Decoy(TokenTask):
    """Rows of tokens; the label is i xor j for v_i at 11 and w_j at 20, with v_i and w_(1−j) as a
    decoy pair.

    >>> rows = Decoy().sample(3, torch.Generator().manual_seed(0))
    >>> torch.equal(rows.inputs[:, 11] ^ (rows.inputs[:, 20] - 2), rows.target)
    True
    """

    length: int = 32
    symbols: int = 20
    longer: tuple[int, ...] = ()

    outputs = 2

    def __post_init__(self) -> None:
        whole_number("decoy", "length", self.length, least=MIN_LENGTH)
        whole_number("decoy", "symbols", self.symbols, least=5)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(4, self.symbols, (count, self.length), generator=draw)
        i, j = torch.randint(2, (2, count), generator=draw)
        which = torch.randint(len(DECOY_STARTS), (count,), generator=draw)
        start = torch.tensor(DECOY_STARTS)[which]
        v = torch.full((count,), V_POSITION)
        pos = torch.stack([v, v + DISTANCE, start, start + DISTANCE], 1)  # (count, 4)
        markers = torch.stack([i, 2 + j, i, 3 - j], 1)
        return Batch(tokens.scatter(1, pos, markers), i ^ j)

    def arrangements(self) -> Iterator[Arrangement]:
        probability = 1 / (4 * len(DECOY_STARTS))
        for i in V_TOKENS:
            for j in (0, 1):
                pair = ((i, V_POSITION), (W_TOKENS[j], W_POSITION))
                for start in DECOY_STARTS:
                    decoy = ((i, start), (W_TOKENS[1 - j], start + DISTANCE))
                    yield Arrangement(tuple(sorted((*pair, *decoy))), i ^ j, probability)
