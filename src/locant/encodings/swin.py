r"""Swin: one learned number for each offset on a grid and each head, added to the scores.

    score_h(m, n) = q_m·k_n/√d + B_h[clip(m − n, ±(window − 1))]

Liu et al. 2021, arXiv:2103.14030, §3.2, eq. 4. Positions are points of a grid and m − n has a
number for each axis: axes=2 is the paper's, with (2·window − 1)² numbers a head. In a window of
that size no offset is larger; past it, offsets share the number at the edge. The default of one
axis is a sequence.

When to use it: for images in windows of a fixed size: it is cheap, exact for every offset, and
tells directions apart.

Traps: another window size needs another table: interpolate it and train on, or take log_cpb. Past
its window offsets share the number at the edge. The default of one axis is a sequence; images need
axes=2.

Used by: Swin Transformer; BEiT has such a table over the whole image.

>>> swin = make("swin", dim=2, window=3, axes=2)
>>> swin.table.data = torch.arange(25.0)[:, None]     # 5·(first offset + 2) + second offset + 2
>>> keys = torch.tensor([[4, 4], [4, 3], [3, 4], [2, 2], [6, 6], [9, 4]])
>>> swin.bias(torch.tensor([[4, 4]]), keys).flatten().tolist()
[12.0, 13.0, 17.0, 24.0, 0.0, 2.0]
>>> many = make("swin", dim=64, heads=64, axes=2).table
>>> tuple(many.shape), round(many.std().item(), 2)
((225, 64), 0.02)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings._tables import (
    bias_by_distance,
    bias_from_rows,
    need_whole_numbers,
    offsets,
)
from locant.encodings.base import Encoding
from locant.shapes import Shape


class Swin(Encoding):
    """A learned bias by offset on a grid."""

    shift_invariant = True
    extrapolates = True
    cacheable_keys = True
    bounded = True
    parameter_count = "(2 * window - 1) ** axes * heads"
    paper = "Liu et al. 2021, arXiv:2103.14030"

    def __init__(self, shape: Shape, *, window: int = 8, std: float = 0.02, axes: int = 1) -> None:
        super().__init__(shape)
        self.window = whole_number("swin", "window", window)
        self.std = positive("swin", "std", std)
        self.axes = whole_number("swin", "axes", axes)
        rows = (2 * self.window - 1) ** self.axes
        self.table = nn.Parameter(torch.randn(rows, shape.heads) * self.std)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        need_whole_numbers("swin", q_pos, k_pos)
        if self.axes == 1:
            return bias_by_distance(self.table, q_pos, k_pos)
        far = self.window - 1
        delta = offsets(q_pos, k_pos, self.axes, torch.float32)  # (1|B, 1, Q, K, axes)
        row = torch.zeros((), dtype=torch.long, device=delta.device)
        for axis in delta.clamp(-far, far).unbind(-1):
            row = row * (2 * far + 1) + axis + far
        return bias_from_rows(self.table, row)
