r"""Fourier: learned frequencies, then a small network.

    x_p + MLP([cos(pW) ‖ sin(pW)]/√D),      W ~ N(0, γ⁻²),  MLP = Linear → GELU → Linear

Li et al. 2021, arXiv:2106.02795, §3. p may have several axes (W then has a row for each). With W as
it is, the dot product of two feature vectors depends on the difference of their positions alone.

When to use it: for positions that are real numbers or points of a grid, when the right frequencies
are not known beforehand.

Traps: γ decides how fast the waves are at the start: too slow, and neighbors look alike; too fast,
and the encoding is close to a table. Past the trained range the network is on its own.

Used by: the image and user-interface models of its paper.

>>> fourier = make("fourier", dim=8)
>>> a = fourier.features(torch.tensor([3.0, 5.0]))
>>> b = fourier.features(torch.tensor([103.0, 105.0]))
>>> bool((a[0] @ a[1] - b[0] @ b[1]).abs() < 1e-6)
True
>>> round(make("fourier", dim=2**16, hidden=1, gamma=5.0).frequency.std().item(), 2)     # 1/γ
0.2
>>> ones = make("fourier", dim=2, hidden=1)
>>> for parameter in ones.parameters():
...     _ = torch.nn.init.ones_(parameter)
>>> # cos 3/√2, sin 3/√2
>>> [round(value, 4) for value in ones.features(torch.tensor([3])).flatten().tolist()]
[-0.7, 0.0998]
>>> embedded = ones.embed(torch.ones(1, 1, 2), torch.tensor([0]))
>>> [round(value, 4) for value in embedded.flatten().tolist()]
[3.6322, 3.6322]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings.base import Encoding, refuse_float8, through, wide
from locant.shapes import Shape


class Fourier(Encoding):
    """Learned waves of the position, mixed by a network."""

    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    parameter_count = (
        "(dim + 1) // 2 * axes + (dim + 1) // 2 * 2 * hidden + hidden + hidden * dim + dim"
    )
    paper = "Li et al. 2021, arXiv:2106.02795"

    def __init__(
        self, shape: Shape, *, gamma: float = 10.0, hidden: int = 128, axes: int = 1
    ) -> None:
        super().__init__(shape)
        self.axes = whole_number("fourier", "axes", axes)
        self.hidden = whole_number("fourier", "hidden", hidden)
        self.gamma = positive("fourier", "gamma", gamma)
        pairs = (shape.dim + 1) // 2
        self.frequency = nn.Parameter(torch.randn(axes, pairs) / self.gamma)
        self.mlp = nn.Sequential(
            nn.Linear(2 * pairs, hidden), nn.GELU(), nn.Linear(hidden, shape.dim)
        )

    def features(self, pos: Tensor) -> Tensor:
        """[cos(pW) ‖ sin(pW)]/√D at positions (…, T) or (…, T, axes): (…, T, D rounded up to
        even)."""
        if self.axes == 1:
            pos = pos[..., None]
        frequency = self.frequency.to(wide(pos.device))
        angle = pos.to(frequency.dtype) @ frequency  # (…, T, axes) → (…, T, pairs)
        wave = torch.cat([angle.cos(), angle.sin()], -1) / self.shape.dim**0.5
        return wave.to(torch.promote_types(self.frequency.dtype, torch.float32))

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        refuse_float8("fourier", x)
        return x + through(self.mlp, self.features(pos)).to(x.dtype)
