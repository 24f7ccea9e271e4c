r"""ALiBi: every score pays for distance.

    score_h(m, n) = q_m·k_n/√d − s_h·|m − n|,      s_h = 2^(−8h/H),  h = 1..H

Press et al. 2022, arXiv:2108.12409, §3. When H is no power of two, the slopes are those of the
power below, then every second one of the power above. The paper is causal; |m − n| extends it to
both sides, and then it cannot tell before from after. sides="causal" is the paper's −s·(m − n);
sides="two-sided" lets the keys ahead pay the slopes in reverse order, so that the two sides differ
in every head (the middle one of an odd number aside). slopes=[…] gives a slope for each head;
slopes="learned" learns ln s_h from the paper's slopes on, so that they stay above 0.

When to use it: in a decoder that must go on past its training length and may forget what is far. It
learns nothing, and a text longer than those seen brings nothing new: far tokens only count for
less.

Traps: in an encoder it cannot tell left from right, whatever is trained, unless sides="two-sided".
It cannot look sharply at an exact or a far distance. Compare implementations after the softmax: a
constant in a row of scores makes no difference.

Used by: BLOOM, MPT and the Falcon-RW models.

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
>>> make("alibi", dim=2, heads=2, slopes=[1.0, 0.0]).bias(query, keys)[0, :, 0].tolist()
[[-2.0, -2.0], [-0.0, -0.0]]
>>> learned = make("alibi", dim=2, heads=2, slopes="learned")
>>> learned.slope.tolist(), sum(number.numel() for number in learned.parameters())
([0.0625, 0.00390625], 2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn

from locant._internal.checks import at_least, one_of
from locant.encodings.base import Encoding, difference
from locant.shapes import Shape

SIDES = ("symmetric", "causal", "two-sided")
SLOPES = ("paper", "learned")


def paper_slopes(
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
    parameter_count = "heads * (slopes == 'learned')"
    paper = "Press et al. 2022, arXiv:2108.12409"

    def __init__(
        self, shape: Shape, *, sides: str = "symmetric", slopes: str | Sequence[float] = "paper"
    ) -> None:
        super().__init__(shape)
        self.sides = one_of("alibi", "sides", sides, SIDES)
        self.slopes = _check_slopes(slopes, shape.heads)
        if sides == "causal":
            self.causal_only = True
            self.prefers_near = False  # ahead of the query it pays for nearness
        self.tells_direction = sides != "symmetric"
        self.precision = torch.float32  # of slopes and distances; `double()` makes it float64
        if self.slopes == "learned":
            self.log_slope = nn.Parameter(paper_slopes(shape.heads).log())

    @property
    def slope(self) -> Tensor:
        """The price of one step in each head: (H)."""
        return self._slope(None)

    def _slope(self, device: torch.device | None) -> Tensor:
        if self.slopes == "paper":
            return paper_slopes(self.shape.heads, self.precision, device)
        if self.slopes == "learned":
            return self.log_slope.to(self.precision).exp()
        return torch.tensor(self.slopes, dtype=self.precision, device=device)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Follow a cast of the module, though it holds no tensor: never below float32."""
        cast = fn(torch.empty(0, dtype=self.precision)).dtype
        self.precision = torch.promote_types(cast, torch.float32)
        return super()._apply(fn, recurse)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        delta = difference(q_pos, k_pos, self.precision)  # (1|B, 1, Q, K)
        behind = self._slope(delta.device)[:, None, None]
        if self.sides == "symmetric":
            return -behind * delta.abs()  # (1|B, H, Q, K)
        if self.sides == "causal":
            return -behind * delta
        return torch.where(delta >= 0, -behind * delta, behind.flip(0) * delta)


def _check_slopes(slopes: Any, heads: int) -> str | tuple[float, ...]:
    """The word, or one number of at least 0 for each head."""
    if not isinstance(slopes, list | tuple):
        return one_of("alibi", "slopes", slopes, SLOPES)
    given = tuple(at_least("alibi", f"slopes={slopes!r}:", slope, 0) for slope in slopes)
    if len(given) != heads or not any(given):
        raise ValueError(
            f"alibi was asked for slopes={slopes!r}, but needs one slope for each of {heads} "
            "heads, not all of them 0.\n"
            f"  Give {heads} numbers, or one of: {', '.join(SLOPES)}"
        )
    return given
