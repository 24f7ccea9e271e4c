r"""Continuous: a small network reads the position and writes the vector.

    x_p + MLP(p / length),      MLP = Linear → ReLU → … → Linear

`depth` counts the hidden layers. Weights start as torch's linear layers do, or from N(0, `std`²)
with biases of 0. Smooth between whole numbers, so that time stamps can be positions; past the
length it goes on in straight lines, which need not be useful. The idea of learning a function of
the position: Liu et al. 2020, arXiv:2003.09229.

When to use it: for positions that are real numbers, such as times, when a smooth dependence on
position is expected and a table would be too large or would have gaps.

Traps: a network of the bare position is too smooth: neighbors are all but alike at the start, and
fine detail is learned late. Past the length it goes on in straight lines that no layer has been
trained on. The length that it is made for sets its scale: keep it when the input grows.

Used by: no widely used model that we know of.

>>> sum(p.numel() for p in make("continuous", dim=128, depth=2).parameters())
33280
>>> ones = make("continuous", dim=1, hidden=1, length=10)
>>> for parameter in ones.parameters():
...     _ = torch.nn.init.ones_(parameter)
>>> # 1 + ReLU(p/10 + 1) + 1
>>> ones.embed(torch.ones(1, 2, 1), torch.tensor([5, -20])).flatten().tolist()
[3.5, 2.0]
>>> small = make("continuous", dim=128, std=0.02).mlp
>>> round(small[-1].weight.std().item(), 3), small[-1].bias.abs().max().item()
(0.02, 0.0)
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings.base import Encoding, refuse_float8, through, wide
from locant.shapes import Shape


class Continuous(Encoding):
    """A learned function of the position as a real number."""

    extrapolates = True
    real_positions = True
    cacheable_keys = True
    parameter_count = "2 * hidden + (depth - 1) * (hidden * hidden + hidden) + hidden * dim + dim"
    paper = "Liu et al. 2020, arXiv:2003.09229"

    def __init__(
        self, shape: Shape, *, hidden: int = 128, depth: int = 1, std: float | None = None
    ) -> None:
        super().__init__(shape)
        self.hidden = whole_number("continuous", "hidden", hidden)
        self.depth = whole_number("continuous", "depth", depth)
        widths = [1, *[hidden] * depth]
        layers: list[nn.Module] = []
        for narrow, broad in pairwise(widths):
            layers += [nn.Linear(narrow, broad), nn.ReLU()]
        self.mlp = nn.Sequential(*layers, nn.Linear(hidden, shape.dim))
        self.std = None if std is None else positive("continuous", "std", std)
        if self.std is not None:
            _start_normal(self.mlp, self.std)

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        refuse_float8("continuous", x)
        share = (pos.to(wide(pos.device)) / self.shape.length)[..., None]  # (…, T, 1)
        return x + through(self.mlp, share.to(torch.promote_types(x.dtype, torch.float32))).to(
            x.dtype
        )  # (…, T, D)


def _start_normal(mlp: nn.Sequential, std: float) -> None:
    for layer in mlp:
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=std)
            nn.init.zeros_(layer.bias)
