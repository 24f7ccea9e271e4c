r"""Hybrid: the fixed waves, and a learned correction that starts at nothing.

    x_p + PE(p) + α·E[p],      α = 0 at the start, E ~ N(0, std²)

PE is the sinusoidal encoding (Vaswani et al. 2017, arXiv:1706.03762), so at the start the two are
equal.

When to use it: when the formula of the sinusoid is a good start, the length is fixed, and there are
enough data to correct it.

Traps: it ends where its table ends, though the waves go on. Rows that training never visits stay
uncorrected. α starts at 0, and so does the gradient of the table: the correction begins to move
only once α has.

Used by: no widely used model that we know of.

>>> hybrid, fixed = make("hybrid", dim=8), make("sinusoidal", dim=8)
>>> x = torch.zeros(1, 5, 8)
>>> bool((hybrid.embed(x, torch.arange(5)) == fixed.embed(x, torch.arange(5))).all())
True
>>> _ = torch.nn.init.ones_(hybrid.alpha)
>>> pos = torch.arange(5)
>>> (hybrid.embed(x, pos) - fixed.embed(x, pos)).allclose(hybrid.table[:5], atol=1e-6)
True
>>> round(make("hybrid", dim=64).table.std().item(), 3)
0.02
>>> hybrid.embed(x[:, :1], torch.tensor([700]))
Traceback (most recent call last):
ValueError: hybrid has vectors for positions 0..511, but position 700 was asked for.
  Make it with length > 700, or use an encoding that has a value everywhere: ...
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from locant._internal.checks import positive
from locant.encodings._tables import look_up
from locant.encodings._waves import angles, frequencies
from locant.encodings.base import Encoding, refuse_float8
from locant.shapes import Shape


class Hybrid(Encoding):
    """Sines and cosines, plus a learned vector a position."""

    cacheable_keys = True
    bounded = True
    parameter_count = "length * dim + 1"
    paper = "Vaswani et al. 2017, arXiv:1706.03762"

    def __init__(self, shape: Shape, *, base: float = 10_000.0, std: float = 0.02) -> None:
        super().__init__(shape)
        self.base = positive("hybrid", "base", base)
        self.std = positive("hybrid", "std", std)
        self.alpha = nn.Parameter(
            torch.zeros(1)
        )  # one dimension: what shards a model cuts along it
        self.table = nn.Parameter(torch.randn(shape.length, shape.dim) * self.std)

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        refuse_float8("hybrid", x)
        angle = angles(pos, frequencies(self.shape.dim, self.base, pos.device))  # (…, T, pairs)
        waves = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[..., : self.shape.dim]
        correction = self.alpha * look_up("hybrid", self.table, pos)
        return x + waves.to(x.dtype) + correction.to(x.dtype)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *more: Any) -> None:
        """Take an α without dimensions too."""
        alpha = state_dict.get(f"{prefix}alpha")
        if isinstance(alpha, Tensor) and not alpha.dim():
            state_dict[f"{prefix}alpha"] = alpha[None]
        super()._load_from_state_dict(state_dict, prefix, *more)
