r"""Dynamic: a small network reads the distance and writes a bias for every head.

    score_h(m, n) = q_m·k_n/√d + MLP(sign(m − n)·ln(1 + |m − n|))_h
    MLP = Linear → SiLU → … → Linear

`depth` counts the hidden layers. The dynamic position bias of Wang et al. 2022 (CrossFormer),
arXiv:2108.00154, §3.3, by the logarithm of the distance as in Liu et al. 2022 (Swin v2),
arXiv:2111.09883, which lets it go on past the trained length. Where positions are evenly spaced
the network is evaluated at the 2·T − 1 distances, not at all T² pairs. The last layer has no
constant: the softmax would take it off again.

When to use it: when a bias by distance is wanted without a limit on the distance and without
choosing buckets; at real positions too.

Traps: a smooth network cannot single out one distance as sharply as a table can. Far distances are
read by their logarithm: 1,000 and 1,100 back are nearly the same to it.

Used by: CrossFormer (images); x-transformers offers it as dynamic_pos_bias.

>>> ones = make("dynamic", dim=1, hidden=1, depth=1)
>>> for parameter in ones.parameters():
...     _ = torch.nn.init.ones_(parameter)
>>> bias = ones.bias(torch.tensor([7]), torch.tensor([7, 0, 14]))[0, 0, 0]
>>> [round(value, 4) for value in bias.tolist()]     # SiLU(x + 1) at x = 0, ln 8, −ln 8
[0.7311, 2.9441, -0.2738]
>>> small = make("dynamic", dim=8, heads=4, hidden=16)
>>> sum(p.numel() for p in small.parameters())     # 2·16 + 17·16 + 16·4
368
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from locant._internal.checks import whole_number
from locant.encodings._tables import bias_of_offsets
from locant.encodings.base import Encoding, through
from locant.shapes import Shape


class Dynamic(Encoding):
    """A learned function of the distance, with a number for each head."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    parameter_count = "2 * hidden + (depth - 1) * (hidden * hidden + hidden) + hidden * heads"
    paper = "Wang et al. 2022, arXiv:2108.00154"

    def __init__(self, shape: Shape, *, hidden: int = 32, depth: int = 2) -> None:
        super().__init__(shape)
        self.hidden = whole_number("dynamic", "hidden", hidden)
        self.depth = whole_number("dynamic", "depth", depth)
        layers: list[nn.Module] = []
        for narrow, broad in pairwise([1, *[hidden] * depth]):
            layers += [nn.Linear(narrow, broad), nn.SiLU()]
        self.mlp = nn.Sequential(*layers, nn.Linear(hidden, shape.heads, bias=False))

    def by_offset(self, offset: Tensor) -> Tensor:
        """Return the bias at each signed distance m − n, (…, 1): (…, H)."""
        return through(self.mlp, offset.sign() * torch.log1p(offset.abs()))

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        precise = torch.promote_types(next(self.mlp.parameters()).dtype, torch.float32)
        return bias_of_offsets(self.by_offset, q_pos, k_pos, precise)
