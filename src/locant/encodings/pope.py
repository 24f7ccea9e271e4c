r"""PoPE: content gives the size, position gives the angle.

    score_h(m, n) = Σ_c softplus(q_c)·softplus(k_c)·cos((n − m)·θ_c + δ_hc)/√d
    θ_c = base^(−c/d),  c = 0..d−1

Gopalakrishnan et al. 2025, arXiv:2509.10534. δ is learned and kept in [−2π, 0], 0 at the start.
Each component has a frequency of its own, so queries and keys become 2d wide: the sizes times
cosines, then times sines. δ turns the queries (by −δ), which is the same and lets heads share keys.

When to use it: where rotary would be taken, and matching by content should not depend on the angle
that positions bring in.

Traps: queries and keys become twice as wide, so a cache of keys is twice as large and decoding
reads half as much again. softplus makes every component positive: a checkpoint trained with rotary
cannot be converted. δ must be kept in [−2π, 0].

Used by: the models of its paper.

>>> def score(m, n, delta):     # of q = k = 0, whose sizes are ln 2; before 1/√d
...     pope, zero = make("pope", dim=2), torch.zeros(1, 1, 1, 2)
...     pope.delta.data.fill_(delta)
...     q, k = pope.rotate(zero, zero, torch.tensor([m]), torch.tensor([n]))
...     return round((q * k).sum().item(), 4)
>>> # 2·ln(2)²: every cosine is 1; δ is kept at 0 and −2π
>>> score(7, 7, 0.0), score(7, 7, 1.0), score(7, 7, -7.0)
(0.9609, 0.9609, 0.9609)
>>> # ln(2)²·(cos 0 + cos 0.99) and ln(2)²·(cos 2 + cos 1.01)
>>> score(7, 8, -1.0), score(8, 7, -1.0)
(0.7441, 0.0556)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from locant._internal.checks import positive
from locant.encodings._waves import angles
from locant.encodings.base import Encoding, refuse_float8, wide
from locant.shapes import Shape


class Pope(Encoding):
    """Polar coordinates: sizes from content, angles from positions."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    linear_offset = True
    parameter_count = "dim"
    paper = "Gopalakrishnan et al. 2025, arXiv:2509.10534"

    def __init__(self, shape: Shape, *, base: float = 10_000.0) -> None:
        super().__init__(shape)
        self.base = positive("pope", "base", base)
        self.delta = nn.Parameter(torch.zeros(shape.heads, shape.head))

    def precompute(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Cosines and sines, (…, T, 2, d): of every query position with δ, (…, H, T, 2, d), and of
        every key's."""
        dtype = torch.promote_types(dtype, torch.float32)
        delta = self.delta.clamp(-2 * math.pi, 0.0).to(dtype)[:, None, :]  # (H, 1, d)
        (cosine, sine), (by, across) = self._unit(q_pos, dtype), (delta.cos(), delta.sin())
        turned = torch.stack([cosine * by + sine * across, sine * by - cosine * across], -2)
        return turned, torch.stack(
            (cosine, sine) if k_pos is q_pos else self._unit(k_pos, dtype), -2
        )

    def _unit(self, pos: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """cos and sin of the angles, each (…, 1, T, d)."""
        width = self.shape.head
        exponent = torch.arange(width, device=pos.device, dtype=wide(pos.device)) / width
        angle = angles(pos, self.base**-exponent).unsqueeze(-3)
        return angle.cos().to(dtype), angle.sin().to(dtype)

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        precomputed: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        refuse_float8("pope", q, k)
        for_q, for_k = (
            self.precompute(q_pos, k_pos, q.dtype) if precomputed is None else precomputed
        )
        return _turn(q, for_q), _turn(k, for_k)

    def move_keys(self, k: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Turn the cosines and sines in the keys on by the difference of the positions."""
        moved = new_pos.to(wide(k.device)) - old_pos.to(wide(k.device))
        cosine, sine = self._unit(moved, torch.promote_types(k.dtype, torch.float32))
        by_cos, by_sin = k.to(cosine.dtype).chunk(2, -1)  # sizes times cosines, times sines
        turned = [by_cos * cosine - by_sin * sine, by_sin * cosine + by_cos * sine]
        return torch.cat(turned, -1).to(k.dtype)


def _turn(x: Tensor, table: Tensor) -> Tensor:
    """softplus(x) times cosines, then times sines: (…, T, d) → (…, T, 2d)."""
    size = nn.functional.softplus(x.to(table.dtype)).unsqueeze(-2)  # (…, T, 1, d)
    return (size * table).flatten(-2).to(x.dtype)
