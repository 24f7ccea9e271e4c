r"""Sinusoidal: every position gets its own chord of waves, added to the input.

    PE(p, a) = sin(p·ω_c),   PE(p, b) = cos(p·ω_c),      ω_c = base^(−2c/D)
    (a, b) = (2c, 2c + 1) for layout="interleaved", the default,
          or (c, c + ⌈D/2⌉) for layout="halves"

Vaswani et al. 2017, arXiv:1706.03762, §3.5. Layout "halves" puts all sines first, then all cosines.
An odd width drops the last cosine. With axes > 1 the width is split over the axes (each share
rounded up to an even number, the rest cut off). With join="concat" the waves stand beside the input
instead of on it.

When to use it: as a plain start for absolute positions without parameters, for time stamps, and as
the thing to compare with.

Traps: the norm of its vectors is √(D/2), which can drown small token vectors: many models multiply
tokens by √D first. Sines and cosines interleaved or in halves are two layouts that are not
interchangeable. A value at any position is not a model that works there. The product of two
positions does not fall steadily with distance.

Used by: the original Transformer, Marian, DETR (two axes) and Whisper's encoder.

>>> def on_ones(pos, dim=4, **options):
...     x = make("sinusoidal", dim=dim, **options).embed(torch.ones(1, 1, dim), torch.tensor([pos]))
...     return [round(value, 4) for value in x.flatten().tolist()]
>>> on_ones(3)     # 1 + sin 3, 1 + cos 3, 1 + sin 0.03, 1 + cos 0.03
[1.1411, 0.01, 1.03, 1.9996]
>>> on_ones(3, layout="halves", base=100.0)     # 1 + sin 3, 1 + sin 0.3, 1 + cos 3, 1 + cos 0.3
[1.1411, 1.2955, 0.01, 1.9553]
>>> on_ones(3, dim=3, layout="halves", base=1000.0)     # 1 + sin 3, 1 + sin 0.03, 1 + cos 3
[1.1411, 1.03, 0.01]
>>> on_ones([3, 0], axes=2)
[1.1411, 0.01, 1.0, 2.0]
>>> on_ones(3, join="concat")
[1.0, 1.0, 1.0, 1.0, 0.1411, -0.99, 0.03, 0.9996]
"""

from __future__ import annotations

import torch
from torch import Tensor

from locant._internal.checks import one_of, positive, whole_number
from locant.encodings._waves import angles, frequencies
from locant.encodings.base import Encoding, refuse_float8
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
        refuse_float8("sinusoidal", x)
        waves = self.vectors(pos).to(x.dtype)  # cast last
        if self.join == "add":
            return x + waves
        return torch.cat([x, waves.expand(*x.shape[:-1], -1)], -1)  # (B, T, 2D)
