"""Slot: which of four tokens is at one given position?

Every row holds each of the four once, so only their positions decide. The task is linear in "which
token where".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from math import perm

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Arrangement
from locant.lab.tasks._token_task import TokenTask, distinct_positions, scatter_markers
from locant.lab.tasks.base import Batch

CLASSES = 4


@dataclass(frozen=True)
class Slot(TokenTask):
    """Rows of tokens with 0, 1, 2, 3 once each; the label is the token at position `slot`.

    >>> rows = Slot().sample(3, torch.Generator().manual_seed(0))
    >>> torch.equal(rows.inputs[:, 11], rows.target)
    True
    """

    length: int = 32
    symbols: int = 20
    slot: int = 11
    longer: tuple[int, ...] = ()

    outputs = CLASSES

    def __post_init__(self) -> None:
        whole_number("slot", "symbols", self.symbols, least=CLASSES + 1)
        whole_number("slot", "slot", self.slot, least=0)
        whole_number("slot", "length", self.length, least=max(CLASSES, self.slot + 1))

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(CLASSES, self.symbols, (count, self.length), generator=draw)
        label = torch.randint(CLASSES, (count,), generator=draw)
        others = distinct_positions(count, self.length - 1, CLASSES, draw)
        others = others + (others >= self.slot)  # every position but the slot
        pos = others.scatter(1, label[:, None], self.slot)  # (count, CLASSES)
        return Batch(scatter_markers(tokens, pos, list(range(CLASSES))), label)

    def arrangements(self) -> Iterator[Arrangement]:
        elsewhere = [pos for pos in range(self.length) if pos != self.slot]
        probability = 1 / (CLASSES * perm(len(elsewhere), CLASSES - 1))
        for label in range(CLASSES):
            for others in permutations(elsewhere, CLASSES - 1):
                positions = (*others[:label], self.slot, *others[label:])
                yield Arrangement(tuple(enumerate(positions)), label, probability)
