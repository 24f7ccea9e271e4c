"""Bit parity: is the number of ones so far even or odd? Every bit counts, and none more than
another.

The answer does not depend on where the ones are, so positions are not needed; it is asked because
most transformers fail on longer rows whatever their encoding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from locant._internal.checks import whole_number
from locant.lab.tasks._sequence_task import SequenceTask
from locant.lab.tasks.base import Batch


@dataclass(frozen=True)
class BitParity(SequenceTask):
    """Rows of random bits; the target at t is the parity of the bits up to and with t.

    >>> rows = BitParity(length=4).sample(1, torch.Generator().manual_seed(0))
    >>> (rows.inputs.cumsum(1) % 2).tolist() == rows.target.tolist()
    True
    """

    length: int = 6

    symbols = 2
    outputs = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("bit-parity", "length", self.length, least=2)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        bits = torch.randint(0, 2, (count, self.length), generator=draw)
        return Batch(bits, bits.cumsum(1) % 2)
