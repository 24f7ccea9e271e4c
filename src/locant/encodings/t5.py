r"""T5: a learned number for each head and bucket of distances, fine near and coarse far.

    score_h(m, n) = q_m·k_n/√d + b_h[bucket(n − m)]

Raffel et al. 2020, arXiv:1910.10683, §2.1. Half of the buckets for one side hold one distance each;
the others grow by a constant factor up to max_distance, and the last holds all the rest.
sides="both" gives each side half of the buckets; sides="behind" is the decoder's: keys ahead share
bucket 0. T5 itself does not divide by √d: `attend(…, scale=1.0)` does the same.

When to use it: in encoders, and in decoders with moderate context, when near distances matter
exactly and far ones roughly.

Traps: T5 itself does not divide scores by √d: loading its weights needs scale=1.0. An encoder
splits the buckets over the two sides, a decoder does not; the wrong one reads other numbers in
silence. All distances past max_distance are one. A materialized bias has H·Q·K numbers: let locant
compute it in blocks.

Used by: T5, mT5, FLAN-T5 and MPNet.

>>> t5 = make("t5", dim=8, heads=2)
>>> offsets = torch.tensor([0, -1, -7, -8, -15, -16, -20, -32, -64, -127, -128, 1, 8, 127])
>>> t5.bucket(offsets).tolist()
[0, 1, 7, 8, 9, 10, 10, 12, 14, 15, 15, 17, 24, 31]
>>> offsets = torch.tensor([0, -1, -15, -16, -20, -64, -1000, 1, 127])
>>> make("t5", dim=8, sides="behind").bucket(offsets).tolist()
[0, 1, 15, 16, 17, 26, 31, 0, 0]
>>> # each head's number is its bucket's
>>> t5.table.data = torch.stack([torch.arange(32.0), -torch.arange(32.0)], 1)
>>> t5.bias(torch.tensor([5]), torch.tensor([3, 5, 6]))[0, :, 0].tolist()
[[2.0, 0.0, 17.0], [-2.0, -0.0, -17.0]]
>>> round(make("t5", dim=64, heads=64).table.std().item(), 2)
0.02
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from locant._internal.checks import one_of, positive, whole_number
from locant.encodings._tables import bias_by_distance, need_whole_numbers
from locant.encodings.base import Encoding
from locant.shapes import Shape

SIDES = ("both", "behind")


class T5(Encoding):
    """A learned bias by bucket of distance."""

    shift_invariant = True
    extrapolates = True
    cacheable_keys = True
    bounded = True
    parameter_count = "buckets * heads"
    paper = "Raffel et al. 2020, arXiv:1910.10683"

    def __init__(
        self,
        shape: Shape,
        *,
        buckets: int = 32,
        max_distance: int = 128,
        sides: str = "both",
        std: float = 0.02,
    ) -> None:
        super().__init__(shape)
        self.sides = one_of("t5", "sides", sides, SIDES)
        self.buckets = whole_number("t5", "buckets", buckets, least=4)
        self.side = buckets // (2 if sides == "both" else 1)
        exact = self.side // 2
        self.max_distance = whole_number("t5", "max_distance", max_distance, least=exact + 1)
        self.std = positive("t5", "std", std)
        if sides == "behind":
            self.causal_only = True
        growth = max_distance / exact
        steps = [
            exact * growth ** (step / (self.side - exact)) for step in range(1, self.side - exact)
        ]
        # the first distance of each bucket after the first; a distance that is a power up to
        # rounding is that power
        self.edges = [*range(1, exact + 1), *(math.ceil(edge - 1e-6) for edge in steps)]
        far = self.edges[-1]  # all beyond it is one bucket
        self.by_distance = self.bucket(
            torch.arange(far, -far - 1, -1, device="cpu")
        ).tolist()  # for m − n = −far … far
        self.table = nn.Parameter(torch.randn(buckets, shape.heads) * self.std)

    def bucket(self, offset: Tensor) -> Tensor:
        """The bucket of each offset n − m (key minus query)."""
        edges = torch.tensor(self.edges, device=offset.device)
        if self.sides == "behind":
            return torch.bucketize((-offset).clamp_min(0), edges, right=True)
        return torch.bucketize(offset.abs(), edges, right=True) + self.side * (offset > 0)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        need_whole_numbers("t5", q_pos, k_pos)
        row = torch.tensor(self.by_distance, device=self.table.device)
        return bias_by_distance(self.table[row], q_pos, k_pos)
