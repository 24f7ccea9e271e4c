r"""RoPE-Mixed: every head turns its pairs by frequencies that it learns, mixed over the axes.

    (q_a, q_b) of head h at the point m rotates by the angle Σ_x m_x·f_xhc, keys likewise
    (a, b) = (c, c + d/2) for pairing="half", the default, or (2c, 2c + 1) for pairing="interleaved"

Heo et al. 2024, arXiv:2403.13298, §3. Positions on a grid with axes=2: a pair can turn along any
direction, not along one axis alone. At the start the pairs of a head come in two rows of d/4,
|f| = base^(−4c/d), base 10, at right angles to each other, in a direction that is random for each
head. With axes=1, a sequence, it starts as rotary: f = base^(−2c/d), base 10000. The paper learns
other frequencies for each layer, here all layers share them. Heads that share their keys share the
frequencies of the first of them.

When to use it: for images, when directions other than the two axes matter.

Traps: frequencies are learned, so they must stay in float32. The default of one axis is a sequence;
images need axes=2. In the paper every layer has its own frequencies.

Used by: the RoPE-ViT models of its paper; timm has them.

>>> mixed = make("rope_mixed", dim=8, axes=2)
>>> [round(f, 4) for f in mixed.frequency.norm(dim=0).flatten().tolist()]     # 1, 10^(−1/2), twice
[1.0, 0.3162, 1.0, 0.3162]
>>> round(abs(mixed.frequency[:, 0, 0] @ mixed.frequency[:, 0, 2]).item(), 4)     # a right angle
0.0
>>> mixed.frequency.data = torch.tensor([[[1.0, 2.0, 0.0, 0.0]], [[0.0, 1.0, 1.0, 0.5]]])
>>> one, pos = torch.tensor([1.0, 0.0]).repeat(4).view(1, 1, 1, 8), torch.tensor([[0.3, 0.1]])
>>> mixed.pairing = "interleaved"     # sines of 0.3, 0.6 + 0.1, 0.1, 0.05
>>> [round(sine, 4) for sine in mixed.rotate(one, one, pos, pos)[0].flatten()[1::2].tolist()]
[0.2955, 0.6442, 0.0998, 0.05]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import one_of, positive, whole_number
from locant.encodings._waves import frequencies
from locant.encodings.base import Encoding, refuse_float8, wide
from locant.encodings.rotary import PAIRINGS, turn_half, turn_interleaved, turning_table
from locant.shapes import Shape


class RopeMixed(Encoding):
    """Learned frequencies of every head, mixed over the axes."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    linear_offset = True
    parameter_count = "axes * dim // 2"
    paper = "Heo et al. 2024, arXiv:2403.13298"

    def __init__(
        self, shape: Shape, *, base: float | None = None, pairing: str = "half", axes: int = 1
    ) -> None:
        super().__init__(shape)
        default = 10_000.0 if axes == 1 else 10.0
        self.base = default if base is None else positive("rope_mixed", "base", base)
        self.pairing = one_of("rope_mixed", "pairing", pairing, PAIRINGS)
        self.axes = whole_number("rope_mixed", "axes", axes)
        if self.axes > 2 or shape.head % (2 * self.axes):
            raise ValueError(
                f"rope_mixed was asked for axes={axes} and the head width {shape.head} (= dim "
                f"{shape.dim} / heads {shape.heads}).\n"
                "  It has axes=1 with an even head width, or axes=2 with a multiple of 4."
            )
        self.frequency = nn.Parameter(self._start())

    def _start(self) -> Tensor:
        """The frequencies at the start: (axes, H, d/2)."""
        heads, head = self.shape.heads, self.shape.head
        row = frequencies(head // self.axes, self.base, torch.empty(0).device).float()
        if self.axes == 1:
            return row.expand(1, heads, -1).clone()
        toward = torch.rand(heads, 1) * 2 * torch.pi
        across = toward + torch.pi / 2
        along_x = torch.cat([row * toward.cos(), row * across.cos()], -1)
        along_y = torch.cat([row * toward.sin(), row * across.sin()], -1)
        return torch.stack([along_x, along_y])

    def precompute(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """What turns the queries and what turns the keys of every head, each (…, H, T, ·)."""
        for_q = self._table(q_pos, dtype)
        return for_q, for_q if k_pos is q_pos else self._table(k_pos, dtype)

    def _table(self, pos: Tensor, dtype: torch.dtype) -> Tensor:
        precise = wide(pos.device)
        points = pos.to(precise)[..., None] if self.axes == 1 else pos.to(precise)
        frequency = self.frequency.to(precise)[:, :, None]  # (axes, H, 1, pairs)
        angle = points[..., None, :, :1] * frequency[0]  # (…, H, T, pairs)
        for axis in range(1, self.axes):
            angle = angle + points[..., None, :, axis, None] * frequency[axis]
        return turning_table(angle.cos(), angle.sin(), self.pairing, dtype)  # (…, H, T, ·)

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        precomputed: tuple[Tensor, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        refuse_float8("rope_mixed", q, k)
        for_q, for_k = (
            self.precompute(q_pos, k_pos, q.dtype) if precomputed is None else precomputed
        )
        shared = q.shape[1] // k.shape[1]  # heads that have the same keys
        if shared > 1:
            for_q = for_q[..., ::shared, :, :].repeat_interleave(shared, -3)
            for_k = for_k[..., ::shared, :, :]
        return self._turn(q, for_q), self._turn(k, for_k)

    def move_keys(self, k: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Rotate keys on by the difference of the positions."""
        moved = new_pos.to(wide(k.device)) - old_pos.to(wide(k.device))
        shared = self.shape.heads // k.shape[1]
        return self._turn(k, self._table(moved, k.dtype)[..., ::shared, :, :])

    def _turn(self, x: Tensor, table: Tensor) -> Tensor:
        return turn_interleaved(x, table) if self.pairing == "interleaved" else turn_half(x, table)
