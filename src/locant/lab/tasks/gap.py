"""Gap: how far apart are two markers, modulo four?

The gap is drawn first, 1 to 12 with equal odds and either marker first, so that only the distance
decides. A bias that shares one number among several distances cannot tell all gaps apart: its
ceiling is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Arrangement
from locant.lab.tasks._token_task import TokenTask, scatter_markers
from locant.lab.tasks.base import Batch

CLASSES, MAX_GAP = 4, 12


@dataclass(frozen=True)
class Gap(TokenTask):
    """Rows of tokens with A (token 0) and B (token 1) once each; the label is |pos(A) − pos(B)| mod
    4.

    >>> rows = Gap().sample(2, torch.Generator().manual_seed(0))
    >>> apart = (rows.inputs == 0).long().argmax(1) - (rows.inputs == 1).long().argmax(1)
    >>> torch.equal(apart.abs() % 4, rows.target)
    True
    """

    length: int = 32
    symbols: int = 20
    longer: tuple[int, ...] = ()

    outputs = CLASSES

    def __post_init__(self) -> None:
        whole_number("gap", "length", self.length, least=MAX_GAP + 1)
        whole_number("gap", "symbols", self.symbols, least=3)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(2, self.symbols, (count, self.length), generator=draw)
        gap = torch.randint(1, MAX_GAP + 1, (count,), generator=draw)
        first = (torch.rand(count, generator=draw) * (self.length - gap)).long()
        pos = torch.stack([first, first + gap], 1)  # (count, 2)
        swapped = torch.rand(count, 1, generator=draw) < 0.5
        pos = torch.where(swapped, pos.flip(1), pos)
        return Batch(scatter_markers(tokens, pos, [0, 1]), gap % CLASSES)

    def arrangements(self) -> Iterator[Arrangement]:
        for gap in range(1, MAX_GAP + 1):
            probability = 1 / (MAX_GAP * 2 * (self.length - gap))
            for first in range(self.length - gap):
                for a, b in ((first, first + gap), (first + gap, first)):
                    yield Arrangement(((0, a), (1, b)), gap % CLASSES, probability)
