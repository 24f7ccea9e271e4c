r"""Time2Vec: one straight line and waves of learned frequency and phase, added to the input.

    x_p + t(p),      t(p)_0 = ω_0·p/length + φ_0,   t(p)_c = sin(ω_c·p + φ_c) for c = 1..D−1

Kazemi et al. 2019, arXiv:1907.05321, §4. The line carries what has no period, the waves what has
one. The line grows without bound, so it reads p as a share of the length (which only rescales ω_0).
The paper starts from random numbers; here ω_0 = 1, the other ω_c are a row of frequencies from 1
down to 1/base, and the phases are uniform in (−π, π). With join="concat" the vector stands beside
the input instead of on it, as in the paper.

When to use it: for events at real times with periods that are not known beforehand, beside a trend.

Traps: its line grows without bound outside of the length. A wave far from the right period gets no
useful gradient: choose the unit of time so that the expected periods lie among the frequencies at
the start.

Used by: no widely used model that we know of, but it is a common building block for models of time
series.

>>> one = make("time2vec", dim=3, length=10)
>>> [round(value, 4) for value in one.frequency.tolist()]
[1.0, 1.0, 0.0001]
>>> one.phase.data = torch.tensor([0.5, 0.0, torch.pi / 2])
>>> x = one.embed(torch.ones(1, 1, 3), torch.tensor([3]))
>>> # 1 + 0.3 + 0.5, 1 + sin 3, 1 + cos 0.0003
>>> [round(value, 4) for value in x.flatten().tolist()]
[1.8, 1.1411, 2.0]
>>> make("time2vec", dim=3, join="concat").embed(torch.ones(1, 1, 3), torch.tensor([3])).shape
torch.Size([1, 1, 6])
>>> bool((make("time2vec", dim=999).phase.abs() < torch.pi).all())
True
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import one_of, positive
from locant.encodings._waves import angles
from locant.encodings.base import Encoding, refuse_float8, wide
from locant.shapes import Shape

JOINS = ("add", "concat")


class Time2Vec(Encoding):
    """A learned line and learned waves of the position."""

    extrapolates = True
    real_positions = True
    cacheable_keys = True
    parameter_count = "2 * dim"
    paper = "Kazemi et al. 2019, arXiv:1907.05321"

    def __init__(self, shape: Shape, *, base: float = 10_000.0, join: str = "add") -> None:
        super().__init__(shape)
        self.base = positive("time2vec", "base", base)
        self.join = one_of("time2vec", "join", join, JOINS)
        self.added_width = shape.dim if join == "concat" else 0
        rungs = torch.arange(shape.dim - 1) / max(shape.dim - 2, 1)
        self.frequency = nn.Parameter(torch.cat([torch.ones(1), self.base**-rungs]))
        self.phase = nn.Parameter((2 * torch.rand(shape.dim) - 1) * torch.pi)

    def vectors(self, pos: Tensor) -> Tensor:
        """Return the line and the waves at positions (…, T): (…, T, D), in float64."""
        precise = wide(pos.device)
        frequency, phase = self.frequency.to(precise), self.phase.to(precise)
        line = angles(pos, frequency[:1]) / self.shape.length + phase[:1]
        waves = (angles(pos, frequency[1:]) + phase[1:]).sin()
        return torch.cat([line, waves], -1)

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        refuse_float8("time2vec", x)
        added = self.vectors(pos).to(x.dtype)  # cast last
        if self.join == "add":
            return x + added
        return torch.cat([x, added.expand(*x.shape[:-1], -1)], -1)  # (B, T, 2D)
