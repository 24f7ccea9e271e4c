r"""Sinusoidal: every position gets its own chord of waves, added to the input.

    PE(p, 2c) = sin(p·ω_c),   PE(p, 2c+1) = cos(p·ω_c),      ω_c = base^(−2c/D)

Vaswani et al. 2017, arXiv:1706.03762, §3.5. Layout "halves" puts all sines first, then all cosines.
An odd width drops the last cosine. With axes > 1 the width is split over the axes (each share rounded up to
an even number, the rest cut off). With join="concat" the waves stand beside the input instead of on it.

>>> [round(value, 4) for value in make("sinusoidal", dim=4).vectors(torch.tensor([3]))[0].tolist()]
[0.1411, -0.99, 0.03, 0.9996]
"""

from __future__ import annotations

import torch
from torch import Tensor

from locant.encodings._waves import angles, frequencies
from locant.encodings.base import Encoding
from locant.errors import one_of, positive, whole_number
from locant.shapes import Shape

LAYOUTS = ("interleaved", "halves")
JOINS = ("add", "concat")


class Sinusoidal(Encoding):
    """Sines and cosines of the position, in a geometric row of wavelengths."""

    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    linear_offset = True
    paper = "Vaswani et al. 2017, arXiv:1706.03762"

    def __init__(
        self,
        shape: Shape,
        *,
        base: float = 10_000.0,
        layout: str = "interleaved",
        join: str = "add",
        axes: int = 1,
    ) -> None:
        super().__init__(shape)
        self.base = positive("sinusoidal", "base", base)
        self.layout = one_of("sinusoidal", "layout", layout, LAYOUTS)
        self.join = one_of("sinusoidal", "join", join, JOINS)
        self.axes = whole_number("sinusoidal", "axes", axes)
        self.added_width = shape.dim if join == "concat" else 0

    def vectors(self, pos: Tensor) -> Tensor:
        """The waves at positions (…, T) or (…, T, axes): (…, T, D), in float64."""
        dim = self.shape.dim
        width = dim if self.axes == 1 else 2 * -(-dim // (2 * self.axes))  # of one axis
        angle = angles(pos, frequencies(width, self.base, pos.device))  # (…, T, [axes,] pairs)
        sine, cosine = angle.sin(), angle.cos()
        if self.layout == "interleaved":
            waves = torch.stack([sine, cosine], -1).flatten(-2)  # s c s c …
        else:
            waves = torch.cat([sine, cosine], -1)  # s s … c c …
            if width % 2:
                waves = waves[..., :-1]
        if self.axes > 1:
            waves = waves.flatten(-2)  # (…, T, axes, width) → (…, T, axes·width)
        return waves[..., :dim]

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        waves = self.vectors(pos).to(x.dtype)  # cast last
        if self.join == "add":
            return x + waves
        return torch.cat([x, waves.expand(*x.shape[:-1], -1)], -1)  # (B, T, 2D)
