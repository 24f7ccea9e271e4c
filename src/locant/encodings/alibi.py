r"""ALiBi: every score pays for distance.

    score_h(m, n) = q_m·k_n/√d − s_h·|m − n|,      s_h = 2^(−8h/H),  h = 1..H

Press et al. 2022, arXiv:2108.12409, §3. When H is no power of two, the slopes are those of the
power below, then every second one of the power above. The paper is causal; |m − n| extends it to
both sides, and then it cannot tell before from after. sides="causal" is the paper's −s·(m − n);
sides="two-sided" lets the keys ahead pay the slopes in reverse order, so that the two sides differ
in every head (the middle one of an odd number aside).

>>> make("alibi", dim=64, heads=8, length=4).slope[:3].tolist()
[0.5, 0.25, 0.125]
>>> make("alibi", dim=6, heads=6).slope.tolist()
[0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
>>> query, keys = torch.tensor([5]), torch.tensor([3, 7])     # a key 2 behind, a key 2 ahead
>>> for sides in ("symmetric", "causal", "two-sided"):     # slopes 1/16 and 1/256
...     make("alibi", dim=2, heads=2, sides=sides).bias(query, keys)[0, :, 0].tolist()
[[-0.125, -0.125], [-0.0078125, -0.0078125]]
[[-0.125, 0.125], [-0.0078125, 0.0078125]]
[[-0.125, -0.0078125], [-0.0078125, -0.125]]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor

from locant._internal.checks import one_of
from locant.encodings.base import Encoding, difference
from locant.shapes import Shape

SIDES = ("symmetric", "causal", "two-sided")


def slopes(
    heads: int, dtype: torch.dtype = torch.float32, device: torch.device | None = None
) -> Tensor:
    """The price of one step in each head, for any number of heads: (H)."""
    power = 2 ** (heads.bit_length() - 1)  # the largest power of two up to H
    main = torch.arange(1, power + 1, dtype=dtype, device=device) / power
    rest = (2 * torch.arange(heads - power, dtype=dtype, device=device) + 1) / (2 * power)
    return 2.0 ** (-8.0 * torch.cat([main, rest]))


class Alibi(Encoding):
    """A fixed price for distance, another in each head."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    prefers_near = True
    tells_direction = False
    paper = "Press et al. 2022, arXiv:2108.12409"

    def __init__(self, shape: Shape, *, sides: str = "symmetric") -> None:
        super().__init__(shape)
        self.sides = one_of("alibi", "sides", sides, SIDES)
        if sides == "causal":
            self.causal_only = True
            self.prefers_near = False  # ahead of the query it pays for nearness
        self.tells_direction = sides != "symmetric"
        self.precision = torch.float32  # of slopes and distances; `double()` makes it float64

    @property
    def slope(self) -> Tensor:
        """The price of one step in each head: (H)."""
        return slopes(self.shape.heads, self.precision)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Follow a cast of the module, though it holds no tensor: never below float32."""
        cast = fn(torch.empty(0, dtype=self.precision)).dtype
        self.precision = torch.promote_types(cast, torch.float32)
        return super()._apply(fn, recurse)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        delta = difference(q_pos, k_pos, self.precision)  # (1|B, 1, Q, K)
        behind = slopes(self.shape.heads, self.precision, delta.device)[:, None, None]
        if self.sides == "symmetric":
            return -behind * delta.abs()  # (1|B, H, Q, K)
        if self.sides == "causal":
            return -behind * delta
        return torch.where(delta >= 0, -behind * delta, behind.flip(0) * delta)
