"""Flip-flop: what was written last? A causal model must find the nearest write and skip the rest.

Liu et al. 2023 (arXiv:2306.00946) ask this of language models; here in our own words and sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from locant._internal.checks import share, whole_number
from locant.lab.tasks._sequence_task import IGNORE_INDEX, SequenceTask
from locant.lab.tasks.base import Batch

WRITE, SKIP, READ, ZERO = 0, 1, 2, 3  # the bits are the tokens ZERO and ZERO + 1


@dataclass(frozen=True)
class Flipflop(SequenceTask):
    """Pairs of an instruction and a bit. Write keeps its bit, skip has a random one, and after read
    stands the bit written last: the target at a read. A row begins with a write, ends with a read.

    skips  the share of skips among the instructions between; the rest is writes and reads, equally

    >>> row = Flipflop(length=8).sample(1, torch.Generator().manual_seed(0))
    >>> int(row.inputs[0, 0]), int(row.inputs[0, -2]), int(row.target[0, -2]) in (0, 1)
    (0, 2, True)
    """

    length: int = 64
    skips: float = 0.8

    symbols = 5
    outputs = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("flipflop", "length", self.length, least=4)
        share("flipflop", "skips", self.skips)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        pairs = self.length // 2
        chosen = torch.rand(count, pairs, generator=draw)
        does = torch.full((count, pairs), SKIP)
        does[chosen > self.skips] = WRITE
        does[chosen > (1 + self.skips) / 2] = READ
        does[:, 0], does[:, -1] = WRITE, READ
        bits = torch.randint(0, 2, (count, pairs), generator=draw)
        number = torch.where(does == WRITE, torch.arange(pairs), 0)
        kept = bits.gather(1, number.cummax(1).values)  # the bit of the last write so far
        bits = torch.where(does == READ, kept, bits)
        tokens = torch.stack([does, ZERO + bits], -1).flatten(1)  # (B, 2·pairs)
        answers = torch.where(does == READ, bits, IGNORE_INDEX)
        nothing = torch.full_like(answers, IGNORE_INDEX)
        return Batch(tokens, torch.stack([answers, nothing], -1).flatten(1))
