r"""Shaw: keys and values carry a learned vector for the distance to the query.

    score(m, n) = q_m·(k_n + a^K[clip(n − m, ±max_distance)])/√d
    out(m)      = Σ_n w_mn·(v_n + a^V[clip(n − m, ±max_distance)])

Shaw et al. 2018, arXiv:1803.02155, eq. 3–4; the vectors are shared by the heads. Only
2·max_distance + 1 products with a query are formed and then looked up by distance, so that no (Q,
K, d) tensor is needed.

When to use it: when the content of a query should decide what a distance is worth, and distances
are short.

Traps: scores and weights are materialized, so memory grows with the square of the length. Distances
past max_distance share one vector. The vectors are added to the values as well: leaving that out is
another encoding.

Used by: the translation models of its paper; Music Transformer builds on it.

>>> shaw = make("shaw", dim=64)
>>> [(tuple(table.shape), round(table.std().item(), 2)) for table in shaw.parameters()]
[((33, 64), 0.02), ((33, 64), 0.02)]
>>> shaw = make("shaw", dim=4, max_distance=2)
>>> # a^K is the distance n − m, four times
>>> shaw.keys.data = torch.arange(-2.0, 3)[:, None].expand(5, 4)
>>> shaw.values.data = 10 * shaw.keys.data
>>> # a query, and keys 5 and 1 behind, at it, and 2 ahead
>>> at = torch.tensor([6]), torch.tensor([1, 5, 6, 8])
>>> q, k = torch.full((1, 1, 1, 4), 0.5), torch.ones(1, 1, 4, 4)     # q with its scale in it
>>> shaw.rescore(q @ k.mT, q, k, *at).flatten().tolist()     # 2 + 4·0.5·distance
[-2.0, 0.0, 2.0, 6.0]
>>> # 1 − 10 − 2.5 + 5
>>> shaw.mix(torch.tensor([0.5, 0.25, 0.0, 0.25]).view(1, 1, 1, 4), k, *at).flatten().tolist()
[-6.5, -6.5, -6.5, -6.5]
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings._tables import need_whole_numbers
from locant.encodings.base import Encoding, difference, refuse_float8
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
    parameter_count = "2 * (2 * max_distance + 1) * head"
    paper = "Shaw et al. 2018, arXiv:1803.02155"

    def __init__(self, shape: Shape, *, max_distance: int = 16, std: float = 0.02) -> None:
        super().__init__(shape)
        self.max_distance = whole_number("shaw", "max_distance", max_distance)
        self.std = positive("shaw", "std", std)
        size = (2 * max_distance + 1, shape.head)
        # plainly "keys" and "values" are methods of the ModuleDict that torch keeps parametrized
        # tensors in
        self.key_vectors = nn.Parameter(torch.randn(size) * self.std)
        self.value_vectors = nn.Parameter(torch.randn(size) * self.std)

    @property
    def keys(self) -> Tensor:
        """a^K, one vector for each distance n − m from −max_distance on: (2·max_distance + 1,
        d)."""
        return self.key_vectors

    @property
    def values(self) -> Tensor:
        """a^V, as `keys`."""
        return self.value_vectors

    def row(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """Which row of the tables belongs to each pair: (1|B, 1, Q, K)."""
        need_whole_numbers("shaw", q_pos, k_pos)
        return (self.max_distance - difference(q_pos, k_pos)).clamp(0, 2 * self.max_distance)

    def rescore(
        self,
        scores: Tensor,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        refuse_float8("shaw", q)
        by_row = q @ self.keys.to(q.dtype).T  # (B, H, Q, rows)
        far, row = self._near(q_pos, k_pos)
        near = scores[..., far:]
        near = near + by_row.gather(-1, row.expand_as(near))
        if not far:
            return near
        out = scores + by_row[..., :1]
        out[..., far:] = near
        return out

    def mix(
        self,
        weights: Tensor,
        v: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        refuse_float8("shaw", v)
        if v.shape[-1] != self.shape.head:
            raise ValueError(
                f"shaw adds vectors as wide as a head to the values, {self.shape.head}, but the "
                "values are "
                f"{v.shape[-1]} wide. Project them to the width of a head, or use an encoding "
                "that leaves values alone."
            )
        far, row = self._near(q_pos, k_pos)
        near, empty = (
            weights[..., far:],
            weights.new_zeros(*weights.shape[:-1], self.values.shape[0]),
        )
        by_row = empty.scatter_add(-1, row.expand_as(near), near)  # (B, H, Q, rows)
        if far:
            by_row[..., 0] += weights[..., :far].sum(-1)
        return weights @ v + by_row @ self.values.to(v.dtype)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *more: Any) -> None:
        """Take tables that were saved as keys and values too."""
        for saved, name in (("keys", "key_vectors"), ("values", "value_vectors")):
            if f"{prefix}{saved}" in state_dict:
                state_dict[f"{prefix}{name}"] = state_dict.pop(f"{prefix}{saved}")
        super()._load_from_state_dict(state_dict, prefix, *more)

    def _near(self, q_pos: Tensor, k_pos: Tensor) -> tuple[int, Tensor]:
        """How many of the first keys need no looking up, all in row 0, and the rows of the others.

        Where new tokens follow many old ones that is all but the last few; elsewhere none.
        """
        if not (k_pos.device.type == "cpu" and visible(q_pos) and visible(k_pos)):
            return 0, self.row(
                q_pos, k_pos
            )  # before any length is looked at, which a traced graph would keep
        far = k_pos.shape[-1] - NEAR * self.max_distance
        if (
            far < MANY
            or not q_pos.numel()
            or int(q_pos.long().min()) - int(k_pos[..., :far].long().max()) < self.max_distance
        ):
            far = 0
        return far, self.row(q_pos, k_pos[..., far:])
