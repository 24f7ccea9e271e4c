"""Rotary whose frequencies live in the module, so that they follow it to any device and dtype."""

import torch

from locant.encodings.base import Encoding


class Bf16Angles(Encoding):
    shift_invariant = True
    extrapolates = True
    cacheable_keys = True

    def __init__(self, shape):
        super().__init__(shape)
        self.register_buffer("theta", 10_000.0 ** (-torch.arange(0, shape.head, 2) / shape.head))

    def rotate(self, q, k, q_pos, k_pos):
        return self.turn(q, q_pos), self.turn(k, k_pos)

    def turn(self, x, pos):
        angle = (pos.to(self.theta.dtype)[..., None] * self.theta).unsqueeze(-3)  # (…, 1, T, d/2)
        (a, b), cos, sin = x.chunk(2, -1), angle.cos(), angle.sin()
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
