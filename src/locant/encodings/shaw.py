r"""Shaw: keys and values carry a learned vector for the distance to the query.

    score(m, n) = q_m·(k_n + a^K[clip(n − m, ±max_distance)])/√d
    out(m)      = Σ_n w_mn·(v_n + a^V[clip(n − m, ±max_distance)])

Shaw et al. 2018, arXiv:1803.02155, eq. 3–4; the vectors are shared by the heads. Only 2·max_distance + 1 products
with a query are formed and then looked up by distance, so that no (Q, K, d) tensor is needed.

>>> shaw = make("shaw", dim=64)
>>> [(tuple(table.shape), round(table.std().item(), 2)) for table in shaw.parameters()]
[((33, 64), 0.02), ((33, 64), 0.02)]
>>> shaw = make("shaw", dim=4, max_distance=2)
>>> shaw.keys.data = torch.arange(-2.0, 3)[:, None].expand(5, 4)     # a^K is the distance n − m, four times
>>> shaw.values.data = 10 * shaw.keys.data
>>> at = torch.tensor([6]), torch.tensor([1, 5, 6, 8])     # a query, and keys 5 and 1 behind, at it, and 2 ahead
>>> q, k = torch.full((1, 1, 1, 4), 0.5), torch.ones(1, 1, 4, 4)     # q with its scale in it
>>> shaw.rescore(q @ k.mT, q, k, *at).flatten().tolist()     # 2 + 4·0.5·distance
[-2.0, 0.0, 2.0, 6.0]
>>> shaw.mix(torch.tensor([0.5, 0.25, 0.0, 0.25]).view(1, 1, 1, 4), k, *at).flatten().tolist()     # 1 − 10 − 2.5 + 5
[-6.5, -6.5, -6.5, -6.5]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant.encodings._tables import need_whole_numbers
from locant.encodings.base import Encoding, difference
from locant.errors import positive, whole_number
from locant.positions import visible
from locant.shapes import Shape

NEAR = 8  # times the largest distance: so many keys at the end are looked up one by one
MANY = 1024  # keys before them; of fewer, all are looked up


class Shaw(Encoding):
    """Learned vectors by distance, added to keys and values."""

    shift_invariant = True
    extrapolates = True
    cacheable_keys = True
    bounded = True
    learned = "2 * (2 * max_distance + 1) * head"
    paper = "Shaw et al. 2018, arXiv:1803.02155"

    def __init__(self, shape: Shape, *, max_distance: int = 16, std: float = 0.02) -> None:
        super().__init__(shape)
        self.max_distance = whole_number("shaw", "max_distance", max_distance)
        size = (2 * max_distance + 1, shape.head)
        positive("shaw", "std", std)
        self.keys = nn.Parameter(torch.randn(size) * std)
        self.values = nn.Parameter(torch.randn(size) * std)

    def row(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """Which row of the tables belongs to each pair: (1|B, 1, Q, K)."""
        need_whole_numbers("shaw", q_pos, k_pos)
        return (self.max_distance - difference(q_pos, k_pos)).clamp(0, 2 * self.max_distance)

    def rescore(self, scores: Tensor, q: Tensor, k: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        by_row = q @ self.keys.to(q.dtype).T  # (B, H, Q, rows)
        far, row = self._near(q_pos, k_pos)
        near = scores[..., far:]
        near = near + by_row.gather(-1, row.expand_as(near))
        if not far:
            return near
        out = scores + by_row[..., :1]
        out[..., far:] = near
        return out

    def mix(self, weights: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        far, row = self._near(q_pos, k_pos)
        near, empty = weights[..., far:], weights.new_zeros(*weights.shape[:-1], self.values.shape[0])
        by_row = empty.scatter_add(-1, row.expand_as(near), near)  # (B, H, Q, rows)
        if far:
            by_row[..., 0] += weights[..., :far].sum(-1)
        return weights @ v + by_row @ self.values.to(v.dtype)

    def _near(self, q_pos: Tensor, k_pos: Tensor) -> tuple[int, Tensor]:
        """How many of the first keys need no looking up, all in row 0, and the rows of the others.

        Where new tokens follow many old ones that is all but the last few; elsewhere none.
        """
        far = k_pos.shape[-1] - NEAR * self.max_distance
        known = far >= MANY and q_pos.numel() and k_pos.device.type == "cpu" and visible(q_pos) and visible(k_pos)
        if not known or int(q_pos.long().min()) - int(k_pos[..., :far].long().max()) < self.max_distance:
            far = 0
        return far, self.row(q_pos, k_pos[..., far:])
