r"""Log-CPB: a network reads the logarithm of an offset on a grid and writes every head's bias.

    score_h(m, n) = q_m·k_n/√d + 16·σ(MLP(s(8·(m − n)/(window − 1))))_h
    s(x) = sign(x)·log2(1 + |x|)/3

Liu et al. 2022 (Swin v2), arXiv:2111.09883, §3.3. MLP = Linear → ReLU → Linear without a
constant. Positions are points of a grid and m − n has a number for each axis: axes=2 is the
paper's; the default of one axis is a sequence. window is the one that was trained with: a larger
one later goes on from the same numbers, offset by offset, so keep the window when the resolution
grows.

When to use it: for images in windows, when the resolution at use differs from that in training.

Traps: window must stay the one that was trained with when the resolution grows, since it scales the
offsets. The logarithm makes far offsets alike. Class and register tokens have no place on the grid.

Used by: Swin Transformer v2.

>>> cpb = make("log_cpb", dim=2, window=8, hidden=1)
>>> for parameter in cpb.parameters():
...     _ = torch.nn.init.ones_(parameter)
>>> cpb.mlp[0].bias.data.zero_()
tensor([0.])
>>> bias = cpb.bias(torch.tensor([7]), torch.tensor([7, 6, 0, 8])).flatten()
>>> [round(value, 4) for value in torch.logit(bias / 16).tolist()]     # 0, log2(15/7)/3, log2(9)/3
[0.0, 0.3665, 1.0566, 0.0]
>>> cpb.bias(torch.tensor([7]), torch.tensor([7])).item()     # 16·σ(0)
8.0
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import whole_number
from locant.encodings._tables import bias_of_offsets
from locant.encodings.base import Encoding, through
from locant.shapes import Shape


class LogCPB(Encoding):
    """A learned function of the offset on a grid, with a number for each head."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    parameter_count = "axes * hidden + hidden + hidden * heads"
    paper = "Liu et al. 2022, arXiv:2111.09883"

    def __init__(self, shape: Shape, *, window: int = 8, hidden: int = 512, axes: int = 1) -> None:
        super().__init__(shape)
        self.window = whole_number("log_cpb", "window", window, least=2)
        self.hidden = whole_number("log_cpb", "hidden", hidden)
        self.axes = whole_number("log_cpb", "axes", axes)
        self.mlp = nn.Sequential(
            nn.Linear(self.axes, hidden), nn.ReLU(), nn.Linear(hidden, shape.heads, bias=False)
        )

    def by_offset(self, offset: Tensor) -> Tensor:
        """Return the bias at each offset m − n, (…, axes): (…, H)."""
        near = 8 * offset / (self.window - 1)
        read = near.sign() * torch.log2(1 + near.abs()) / 3  # 3 = log2(8)
        return 16 * through(self.mlp, read).sigmoid()

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        precise = torch.promote_types(next(self.mlp.parameters()).dtype, torch.float32)
        return bias_of_offsets(self.by_offset, q_pos, k_pos, precise, self.axes)
