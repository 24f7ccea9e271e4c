"""Sinusoidal vectors, computed once and kept: the table grows when a longer input comes."""

import torch

from locant.encodings.base import Encoding


class RunningCache(Encoding):
    extrapolates = True
    cacheable_keys = True
    bounded = True

    def __init__(self, shape):
        super().__init__(shape)
        self.table = torch.zeros(0, shape.dim)

    def embed(self, x, pos):
        if x.shape[1] > len(self.table):
            omega = 10_000.0 ** (-torch.arange(0, self.shape.dim, 2) / self.shape.dim)
            angle = torch.arange(x.shape[1])[:, None] * omega
            self.table = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # (T, D)
        return x + self.table[: x.shape[1]].to(x)
