r"""Sandwich: the waves of two sinusoidal positions, multiplied, and nothing else of them.

    score_h(m, n) = q_m·k_n/√d + H/(8h)·Σ_c cos((m − n)·ω_c)
    ω_c = base^(−2c/width),  c = 0..width/2 − 1

Chi et al. 2023, arXiv:2212.10356, §5. h = 1..H counts the heads: the first weighs distance most.
It is added to the scaled score. The sum of cosines is largest at distance 0 and falls on the
whole, with ripples. Nothing is learned. The paper takes width = 128 whatever the head's own width
is, and is causal; the cosine extends it to both sides, and then it cannot tell before from after.
An odd width counts as the even one below it.

When to use it: in a decoder, as a fixed bias that falls with distance like alibi's but flattens out
far away.

Traps: in an encoder it cannot tell left from right. It falls with ripples, so that a farther key
can score a little higher than a nearer one. Its width is an option of its own, not that of the
heads.

Used by: the models of its paper; no widely used one that we know of.

>>> sandwich = make("sandwich", dim=2, heads=2, width=8)
>>> bias = sandwich.bias(torch.tensor([4]), torch.arange(4, -1, -1))[0, :, 0]
>>> [round(value, 4) for value in (8 * bias[1]).tolist()]     # Σ cos Δ/10^c, c = 0..3
[4.0, 3.5353, 2.5637, 1.9649, 2.2666]
>>> (bias[0] / bias[1]).unique().tolist()     # H/(8·1) beside H/(8·2)
[2.0]
>>> make("sandwich", dim=2, base=1.0, width=6).bias(torch.zeros(1), torch.zeros(1)).item()     # 3/8
0.375
"""

from __future__ import annotations

import torch
from torch import Tensor

from locant._internal.checks import positive, whole_number
from locant.encodings._waves import frequencies
from locant.encodings.base import Encoding, difference, wide
from locant.shapes import Shape


class Sandwich(Encoding):
    """A fixed bias by distance: the dot product of two sinusoidal vectors."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    tells_direction = False
    paper = "Chi et al. 2023, arXiv:2212.10356"

    def __init__(self, shape: Shape, *, width: int = 128, base: float = 10_000.0) -> None:
        super().__init__(shape)
        self.width = whole_number("sandwich", "width", width, least=2)
        self.base = positive("sandwich", "base", base)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        delta = difference(q_pos, k_pos, wide(k_pos.device))  # (1|B, 1, Q, K)
        omega = frequencies(2 * (self.width // 2), self.base, delta.device)
        waves = torch.zeros((), dtype=omega.dtype, device=delta.device)
        for one in omega.unbind():  # one matrix at a time, not all of them
            waves = waves + (delta.to(omega.dtype) * one).cos()
        heads = self.shape.heads
        head = torch.arange(1, heads + 1, dtype=omega.dtype, device=delta.device)
        return (heads / (8 * head[:, None, None]) * waves).float()  # (1|B, H, Q, K)
