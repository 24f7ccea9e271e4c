r"""KERPLE: every score pays for distance by a kernel whose shape each head learns.

    score_h(m, n) = q_m·k_n/√d − p_h·ln(1 + a_h·|m − n|)      for kernel="log", the default
    score_h(m, n) = q_m·k_n/√d − a_h·|m − n|^p_h              for kernel="power", 0 < p_h < 2

Chi et al. 2022, arXiv:2205.09921, §3.2. p starts uniform in (0, 2) and a in (0, 1). Both are
positive by their formula: p = softplus(raw_p), or 2·sigmoid(raw_p) for the power; a =
softplus(raw_a). What is trained may be any number, and nothing is clamped. The paper is causal;
|m − n| extends it to both sides, and then it cannot tell before from after. A power with p = 1 is
ALiBi with learned slopes.

When to use it: where alibi fits, and each head should learn for itself how fast the past fades; the
logarithm keeps more of the far past than a straight line does.

Traps: in an encoder it cannot tell left from right. It only falls with distance, so it cannot
prefer the token three back to the token one back. The published code clamps its weights in forward;
here they are positive by their formula.

Used by: the models of its paper; no widely used one that we know of.

>>> kerple = make("kerple", dim=2, heads=2)
>>> for raw in kerple.parameters():
...     _ = torch.nn.init.constant_(raw, 0.5413248546)     # ln(e − 1): p = a = 1
>>> bias = kerple.bias(torch.tensor([10]), torch.tensor([10, 9, 12, 0]))[0, 0, 0]
>>> [round(value, 4) for value in bias.tolist()]     # −ln 1, −ln 2, −ln 3, −ln 11
[-0.0, -0.6931, -1.0986, -2.3979]
>>> power = make("kerple", dim=2, kernel="power")
>>> for raw in power.parameters():
...     _ = torch.nn.init.zeros_(raw)     # p = 2·½ = 1, a = ln 2
>>> bias = power.bias(torch.tensor([10]), torch.tensor([10, 9, 12, 0]))[0, 0, 0]
>>> [round(value, 4) for value in bias.tolist()]     # −ln 2 times 0, 1, 2, 10
[-0.0, -0.6931, -1.3863, -6.9315]
>>> for kernel in ("log", "power"):     # the means of (0, 2) and (0, 1), and the largest p
...     many = make("kerple", dim=4096, heads=4096, kernel=kernel)
...     print(*(round(number.item(), 1) for number in (many.p.mean(), many.a.mean(), many.p.max())))
1.0 0.5 2.0
1.0 0.5 2.0
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import one_of
from locant.encodings.base import Encoding, difference
from locant.shapes import Shape

KERNELS = ("log", "power")
MIN_DRAW = 1e-4  # of a uniform number at the start: the raw number of 0 would be −∞


class Kerple(Encoding):
    """A learned price for distance, by a logarithm or a power."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    prefers_near = True
    tells_direction = False
    parameter_count = "2 * heads"
    paper = "Chi et al. 2022, arXiv:2205.09921"

    def __init__(self, shape: Shape, *, kernel: str = "log") -> None:
        super().__init__(shape)
        self.kernel = one_of("kerple", "kernel", kernel, KERNELS)
        p = torch.rand(shape.heads).clamp(MIN_DRAW, 1 - MIN_DRAW)  # half of p, for a power
        a = torch.rand(shape.heads).clamp_min(MIN_DRAW)
        self.raw_p = nn.Parameter(torch.logit(p) if kernel == "power" else _raw(2 * p))
        self.raw_a = nn.Parameter(_raw(a))

    @property
    def p(self) -> Tensor:
        """The weight of the logarithm, or the power, of each head: (H), in float32 or wider."""
        raw = self.raw_p.to(self._precise)
        return 2 * raw.sigmoid() if self.kernel == "power" else nn.functional.softplus(raw)

    @property
    def a(self) -> Tensor:
        """The weight of the distance, or of its power, in each head: (H), in float32 or wider."""
        return nn.functional.softplus(self.raw_a.to(self._precise))

    @property
    def _precise(self) -> torch.dtype:
        return torch.promote_types(self.raw_a.dtype, torch.float32)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        distance = difference(q_pos, k_pos, self._precise).abs().to(self._precise)  # (1|B, 1, Q, K)
        p, a = self.p[:, None, None], self.a[:, None, None]
        if self.kernel == "power":
            return -a * distance**p  # (1|B, H, Q, K)
        return -p * torch.log1p(a * distance)


def _raw(value: Tensor) -> Tensor:
    """Return the number whose softplus is a positive value."""
    return torch.log(torch.expm1(value))
