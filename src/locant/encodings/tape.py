r"""tAPE: sinusoidal waves whose speed fits the length of the series.

    PE(p, 2c) = sin(p·ω_c·D/length),   PE(p, 2c + 1) = cos(p·ω_c·D/length),      ω_c = base^(−2c/D)

Foumani et al. 2024, arXiv:2305.16642, §4.1 (time absolute position encoding). A short series in a
wide model is spread over more of the waves, so that the likeness of two positions falls with
their distance; plain sinusoidal positions look too much alike there. length is that of the
series: make it with theirs. An odd width drops the last cosine.

When to use it: for classifying or encoding time series of one known length, shorter than the model
is wide.

Traps: the length that it is made for is part of the formula: another length is another encoding,
and a trained model does not carry over.

Used by: ConvTran, the time-series classifier of its paper.

>>> x = make("tape", dim=4, length=8).embed(torch.ones(1, 2, 4), torch.tensor([1, 2]))
>>> for row in (x[0] - 1).tolist():     # sin and cos of ½ and ½/100, then of 1 and 1/100
...     print(*(round(value, 4) for value in row))
0.4794 0.8776 0.005 1.0
0.8415 0.5403 0.01 0.9999
>>> fast = make("tape", dim=2, length=1, base=7.0).embed(torch.zeros(1, 1, 2), torch.tensor([1]))
>>> [round(value, 4) for value in fast.flatten().tolist()]     # sin 2, cos 2
[0.9093, -0.4161]
"""

from __future__ import annotations

import torch
from torch import Tensor

from locant._internal.checks import positive
from locant.encodings._waves import angles, frequencies
from locant.encodings.base import Encoding, refuse_float8
from locant.shapes import Shape


class Tape(Encoding):
    """Sines and cosines of the position, at a speed of width over length."""

    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    linear_offset = True
    paper = "Foumani et al. 2024, arXiv:2305.16642"

    def __init__(self, shape: Shape, *, base: float = 10_000.0) -> None:
        super().__init__(shape)
        self.base = positive("tape", "base", base)

    def vectors(self, pos: Tensor) -> Tensor:
        """Return the waves at positions (…, T): (…, T, D), in float64."""
        speed = self.shape.dim / self.shape.length
        omega = speed * frequencies(self.shape.dim, self.base, pos.device)
        angle = angles(pos, omega)  # (…, T, pairs)
        waves = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)  # s c s c …
        return waves[..., : self.shape.dim]

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        refuse_float8("tape", x)
        return x + self.vectors(pos).to(x.dtype)  # cast last
