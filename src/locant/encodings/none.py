"""None: no positions at all.

    score(m, n) = q_m·k_n/√d

Without a mask the output follows the tokens wherever they are moved. Under a causal mask order
still leaks in: the first token sees one key, the second two, and a decoder can learn from that.
Kazemnejad et al. 2023, arXiv:2305.19466.

>>> make("none", dim=8, heads=2).bias(torch.arange(3), torch.arange(3)) is None
True
"""

from __future__ import annotations

from locant._internal.checks import whole_number
from locant.encodings.base import Encoding
from locant.shapes import Shape


class Nothing(Encoding):
    """Attention as it is: a set in, a set out."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    tells_order = False
    tells_direction = False
    paper = "Kazemnejad et al. 2023, arXiv:2305.19466"

    def __init__(self, shape: Shape, *, axes: int = 1) -> None:
        super().__init__(shape)
        self.axes = whole_number("none", "axes", axes)
