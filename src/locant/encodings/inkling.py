r"""Inkling: every token says what it thinks of each distance behind it.

    score_h(m, n) = q_m·k_n/√d + r_h(m)·P[m − n]      for 0 ≤ m − n < extent, else q_m·k_n/√d
    r_h(m) = W_h x_m

The relative attention of Thinking Machines' Inkling, which has no paper; Shaw et al. 2018,
arXiv:1803.02155, meet the query with a vector for each distance in the same way. P holds a vector
of `basis` numbers for each distance, shared by the heads; r is read from the layer's own input
(`sense`), so that a query need not serve content and distance at once. Past the extent nothing is
added: 0, not the last number.

When to use it: in a decoder that needs fine distances nearby, chosen by the token itself, and
nothing far away.

Traps: past the extent it adds exactly 0, not the last number: far keys are not told apart by
position at all. r is read from the input of the layer, not from the query: an attention that is
given q, k and v alone cannot compute it. Causal only.

Used by: Inkling, a model type of transformers.

>>> inkling = make("inkling", dim=2, basis=2, extent=3)
>>> inkling.weight.data = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])     # r = x
>>> inkling.profiles.data = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])     # by distance
>>> pos = torch.arange(5)
>>> state = inkling.sense(torch.tensor([[[1.0, 0.0]] * 3 + [[1.0, 1.0]] * 2]), pos)
>>> inkling.state_bias(pos, pos, state, state)[0, 0].tolist()
[[1.0, 0.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0, 0.0], [3.0, 2.0, 1.0, 0.0, 0.0],
 [0.0, 33.0, 22.0, 11.0, 0.0], [0.0, 0.0, 33.0, 22.0, 11.0]]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from locant._internal.checks import positive, whole_number
from locant.encodings._tables import need_whole_numbers
from locant.encodings.base import Encoding, difference
from locant.positions import visible
from locant.shapes import Shape


class Inkling(Encoding):
    """Numbers for distances, mixed anew by every query's own token."""

    shift_invariant = True
    extrapolates = True
    causal_only = True
    cacheable_keys = True
    bounded = True
    parameter_count = "heads * basis * dim + basis * extent"
    paper = "Inkling (no paper); cf. Shaw et al. 2018, arXiv:1803.02155"

    def __init__(
        self, shape: Shape, *, basis: int = 16, extent: int = 128, std: float = 0.02
    ) -> None:
        super().__init__(shape)
        self.basis = whole_number("inkling", "basis", basis)
        self.extent = whole_number("inkling", "extent", extent)
        self.std = positive("inkling", "std", std)
        scale = shape.dim**-0.5  # r is about as large as x
        self.weight = nn.Parameter(torch.randn(shape.heads, basis, shape.dim) * scale)  # W
        self.profiles = nn.Parameter(torch.randn(basis, extent) * self.std)  # P

    def sense(self, x: Tensor, pos: Tensor, past: Tensor | None = None) -> Tensor:
        """Return r of every token and head: (B, H, T, basis)."""
        precise = torch.promote_types(x.dtype, torch.float32)
        return x[:, None].to(precise) @ self.weight.to(precise).mT

    def state_bias(self, q_pos: Tensor, k_pos: Tensor, q_state: Tensor, k_state: Tensor) -> Tensor:
        need_whole_numbers("inkling", q_pos, k_pos)
        first, last = self._near_keys(q_pos, k_pos)
        keys = k_pos.shape[-1]
        if first == last:  # every key is too far: one 0 serves all pairs, and no gradient is lost
            return q_state.new_zeros(()).expand(*q_state.shape[:3], keys)
        curve = q_state @ self.profiles.to(q_state.dtype)  # (B, H, Q, extent)
        distance = difference(q_pos, k_pos[..., first:last])  # (1|B, 1, Q, near keys)
        row = distance.clamp(0, self.extent - 1).expand(*curve.shape[:3], -1)
        outside = (distance < 0) | (distance >= self.extent)
        near = curve.gather(-1, row).masked_fill(outside, 0.0)
        return pad(near, (first, keys - last))  # (B, H, Q, K)

    def _near_keys(self, q_pos: Tensor, k_pos: Tensor) -> tuple[int, int]:
        """Say which keys may lie within the extent of some query: from the first to the last.

        All, where looking at positions would cost a wait or cannot be. A single pair is looked up
        wherever it is: attention learns from one what a bias depends on.
        """
        keys = k_pos.shape[-1]
        if q_pos.device.type != "cpu" or not (visible(q_pos) and visible(k_pos)):
            return 0, keys  # before any length is looked at, which a traced graph would keep
        if not q_pos.numel() or q_pos.shape[-1] * keys <= 1:
            return 0, keys
        lowest, highest = (int(end) for end in q_pos.long().aminmax())
        near = (k_pos.long() > lowest - self.extent) & (k_pos.long() <= highest)  # (K) or (B, K)
        index = near.reshape(-1, keys).any(0).nonzero()
        return (int(index[0]), int(index[-1]) + 1) if len(index) else (0, 0)

    def move_states(self, state: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Return r as it is: it is read from the token alone."""
        return state

    def keep_states(self, state: Tensor, kept: Tensor) -> Tensor:
        return state[..., kept, :]
