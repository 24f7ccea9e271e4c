"""Gap: how far apart are two markers, modulo four?

The gap is drawn first, 1 to 12 with equal odds and either marker first, so that nothing but the distance decides. A bias
that shares one number among several distances cannot tell all gaps apart: its ceiling is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Placement
from locant.lab.tasks._rows import Rows, scatter_markers
from locant.lab.tasks.base import Batch

CLASSES, LARGEST = 4, 12


@dataclass(frozen=True)
class Gap(Rows):
    """Rows of tokens with A (token 0) and B (token 1) once each; the label is |place of A − place of B| mod 4.

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
        whole_number("gap", "length", self.length, least=LARGEST + 1)
        whole_number("gap", "symbols", self.symbols, least=3)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(2, self.symbols, (count, self.length), generator=draw)
        gap = torch.randint(1, LARGEST + 1, (count,), generator=draw)
        first = (torch.rand(count, generator=draw) * (self.length - gap)).long()
        places = torch.stack([first, first + gap], 1)
        turned = torch.rand(count, 1, generator=draw) < 0.5
        places = torch.where(turned, places.flip(1), places)
        return Batch(scatter_markers(tokens, places, [0, 1]), gap % CLASSES)

    def placements(self) -> Iterator[Placement]:
        for gap in range(1, LARGEST + 1):
            likely = 1 / (LARGEST * 2 * (self.length - gap))
            for first in range(self.length - gap):
                for a, b in ((first, first + gap), (first + gap, first)):
                    yield Placement(((0, a), (1, b)), gap % CLASSES, likely)
