r"""Relative: one learned number for each distance and head, added to the scores.

    score_h(m, n) = q_m·k_n/√d + b_h[clip(m − n, ±max_distance)]

The per-distance bias of Raffel et al. 2020, arXiv:1910.10683, §2.1, without its buckets. All
distances past max_distance on one side share one number.

When to use it: when exact distances matter, such as "the token three back", and they are bounded.

Traps: all distances past max_distance share one number, so far ones are not told apart. Distances
that training never meets keep the number they were drawn with. Whole positions only.

Used by: T5 uses it with buckets, Swin on a grid; as it stands no widely used model that we know of.

>>> relative = make("relative", dim=8, heads=2, max_distance=4)
>>> # ± the distance
>>> relative.table.data = torch.stack([torch.arange(-4.0, 5), torch.arange(4.0, -5, -1)], 1)
>>> relative.bias(torch.tensor([6]), torch.tensor([0, 3, 6, 9, 12]))[0, :, 0].tolist()
[[4.0, 3.0, 0.0, -3.0, -4.0], [-4.0, -3.0, 0.0, 3.0, 4.0]]
>>> many = make("relative", dim=64, heads=64).table
>>> tuple(many.shape), round(many.std().item(), 2)
((257, 64), 0.02)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings._tables import bias_by_distance, need_whole_numbers
from locant.encodings.base import Encoding
from locant.shapes import Shape


class Relative(Encoding):
    """A learned bias by signed distance."""

    shift_invariant = True
    extrapolates = True
    cacheable_keys = True
    bounded = True
    parameter_count = "(2 * max_distance + 1) * heads"
    paper = "Raffel et al. 2020, arXiv:1910.10683"

    def __init__(self, shape: Shape, *, max_distance: int = 128, std: float = 0.02) -> None:
        super().__init__(shape)
        self.max_distance = whole_number("relative", "max_distance", max_distance)
        self.std = positive("relative", "std", std)
        rows = 2 * max_distance + 1
        self.table = nn.Parameter(torch.randn(rows, shape.heads) * self.std)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        need_whole_numbers("relative", q_pos, k_pos)
        return bias_by_distance(self.table, q_pos, k_pos)
