r"""Learned: a table with one vector for each position, added to the input.

    x_p + E[p],      E ~ N(0, std²) at the start

Devlin et al. 2019 (BERT), arXiv:1810.04805. There is nothing past the table's end, and it says so.

>>> learned = make("learned", dim=8, length=64)
>>> bool((learned.embed(torch.ones(1, 64, 8), torch.arange(64)) == 1 + learned.table).all())
True
>>> round(make("learned", dim=64).table.std().item(), 3)
0.02
>>> learned.embed(torch.zeros(1, 1, 8), torch.tensor([700]))
Traceback (most recent call last):
ValueError: learned has vectors for positions 0..63, but position 700 was asked for.
  Make it with length > 700, or use an encoding that has a value everywhere: ...
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import positive
from locant.encodings._tables import look_up
from locant.encodings.base import Encoding, refuse_float8
from locant.shapes import Shape


class Learned(Encoding):
    """One learned vector a position."""

    cacheable_keys = True
    bounded = True
    parameter_count = "length * dim"
    paper = "Devlin et al. 2019, arXiv:1810.04805"

    def __init__(self, shape: Shape, *, std: float = 0.02) -> None:
        super().__init__(shape)
        self.std = positive("learned", "std", std)
        self.table = nn.Parameter(torch.randn(shape.length, shape.dim) * self.std)

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        refuse_float8("learned", x)
        return x + look_up("learned", self.table, pos).to(x.dtype)
