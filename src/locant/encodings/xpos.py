r"""xPos: rotary whose pairs also fade with distance, the fast ones soonest.

    score(m, n) = Σ_c ζ_c^((m − n)/scale_base)·((q_a·k_a + q_b·k_b)·cos((m − n)·θ_c)
                                                + (q_a·k_b − q_b·k_a)·sin((m − n)·θ_c))/√d
    ζ_c = (2c/d + 0.4)/1.4,  θ_c = base^(−2c/d),  c = 0..d/2−1

Sun et al. 2022, arXiv:2212.10554, §2. Queries are multiplied by ζ^((m − L/2)/scale_base), keys by
ζ^(−(n − L/2)/scale_base), and L/2 drops out. The published code takes the middle of the current
sequence there, so that cached keys no longer fit. Here L is the length that the encoding is made
for: keys can be cached, and positions past it are refused, because the multipliers would leave
the range of floating-point numbers. Keys ahead of a query grow with distance, and the paper hides
them.

When to use it: in a decoder, for rotary whose fast pairs fade with distance.

Traps: published code centers the scales by the current length, so cached keys no longer fit.
Multipliers grow and shrink exponentially with position: far positions overflow, and are refused
here. Only under a causal mask: keys ahead grow with distance.

Used by: TorchScale's models.

>>> [round(zeta, 6) for zeta in make("xpos", dim=8).zeta().tolist()]
[0.285714, 0.464286, 0.642857, 0.821429]
>>> def score(m, n):     # of q = k = (1, 0, 0, 0), before 1/√d; ζ = 0.4/1.4 and 0.9/1.4
...     one, pos = torch.eye(4)[None, None, :1], torch.tensor([m, n])
...     xpos = make("xpos", dim=4, length=100, scale_base=10.0)
...     q, k = xpos.rotate(one, one, pos[:1], pos[1:])
...     return round((q * k).sum().item(), 4)
>>> score(90, 80), score(10, 0)     # 0.285714·cos 10, twice
(-0.2397, -0.2397)
>>> score(20, 20), score(20, 0)     # 1, and 0.285714²·cos 20
(1.0, 0.0333)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from locant._internal.checks import one_of, positive, whole_number
from locant.encodings._tables import need_inside
from locant.encodings.base import need_tensors, wide
from locant.encodings.rotary import PAIRINGS, Rotary
from locant.shapes import Shape

MAX_BITS = 100.0  # multipliers from 2^−100 to 2^100 leave float32 room for content
MAX_BITS_HALF = 10.0  # and these leave it to float16


class Xpos(Rotary):
    """Pairs of dimensions turn with the position and fade with the distance."""

    extrapolates = False
    bounded = False
    paper = "Sun et al. 2022, arXiv:2212.10554"

    def __init__(
        self,
        shape: Shape,
        *,
        base: float = 10_000.0,
        pairing: str = "half",
        width: int | None = None,
        scale_base: float = 512.0,
    ) -> None:
        super().__init__(
            shape,
            base=positive("xpos", "base", base),
            pairing=one_of("xpos", "pairing", pairing, PAIRINGS),
            width=None if width is None else whole_number("xpos", "width", width),
        )
        self.scale_base = positive("xpos", "scale_base", scale_base)
        # the largest multiplier, as a power of 2
        self._bits = shape.length / 2 / self.scale_base * math.log2(1.4 / 0.4)
        if self._bits > MAX_BITS:
            most = int(MAX_BITS / math.log2(1.4 / 0.4) * 2 * self.scale_base)
            raise ValueError(
                f"xpos of length {shape.length} with scale_base={self.scale_base:g} multiplies by "
                f"up to 2^{self._bits:.0f}, which leaves the range of float32.\n"
                f"  Make it with length ≤ {most}, or with a larger scale_base."
            )

    def zeta(self, device: torch.device | None = None) -> Tensor:
        """What each pair is multiplied by over `scale_base` positions: (width/2), in float64."""
        precise = wide(torch.device("cpu") if device is None else device)
        pair = torch.arange(0, self.width, 2, device=device, dtype=precise)
        return (pair / self.width + 0.4) / 1.4

    def precompute(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        need_tensors(q_pos, k_pos)
        if dtype == torch.float16 and self._bits > MAX_BITS_HALF:
            raise ValueError(
                f"xpos of length {self.shape.length} multiplies by up to 2^{self._bits:.0f}, which "
                "leaves the range of float16: use bfloat16 or float32."
            )
        for pos in (q_pos, k_pos):
            need_inside("xpos", pos, self.shape.length)
        for_q, for_k = super().precompute(q_pos, k_pos, dtype)
        middle = self.shape.length / 2
        for_q = for_q * self._fading(q_pos - middle, for_q)
        for_k = for_k * self._fading(-(k_pos - middle), for_k)  # middle − k_pos fails in ONNX
        return for_q, for_k

    def move_keys(self, k: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Rotate keys on by the difference of the positions, and let them grow by it."""
        need_inside("xpos", new_pos, self.shape.length)
        moved = new_pos.to(wide(k.device)) - old_pos.to(wide(k.device))
        table = self._table(moved, self.frequencies(device=k.device), k.dtype)
        return self._turn(k, table * self._fading(-moved, table))

    def _fading(self, steps: Tensor, table: Tensor) -> Tensor:
        """ζ^(steps/scale_base) for every number of a table, (…, 1, T, ·)."""
        zeta = self.zeta(steps.device)
        power = zeta ** (steps.to(zeta.dtype)[..., None, :, None] / self.scale_base)
        real = power.to(table.real.dtype)
        return real if self.pairing == "interleaved" else torch.cat([real, real], -1)
