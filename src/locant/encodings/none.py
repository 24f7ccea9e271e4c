"""None: no positions at all.

    score(m, n) = q_m·k_n/√d

Without a mask the output follows the tokens wherever they are moved. Under a causal mask order
still leaks in: the first token sees one key, the second two, and a decoder can learn from that.
Kazemnejad et al. 2023, arXiv:2305.19466. A query_temperature multiplies far queries, as Llama 4
does in its layers without positions (_temperature.py).

When to use it: as the control of every comparison; in some layers of a decoder; and wherever order
must not matter, as in sets.

Traps: without a mask a model with it cannot see order at all, at any depth. Under a causal mask it
can, through how many tokens each one sees, but coarsely far from the start.

Used by: some layers of Llama 4, SmolLM3 and Cohere's Command R7B; the other layers there are
rotary.

>>> make("none", dim=8, heads=2).bias(torch.arange(3), torch.arange(3)) is None
True
>>> llama4 = make("none", dim=8, query_temperature={"beta": 0.1, "length": 8192, "offset": 1})
>>> round(llama4.temperature(torch.tensor([8191])).item(), 4)     # 1 + 0.1·ln 2
1.0693
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from locant._internal.checks import whole_number
from locant.encodings._temperature import QueryTemperature, read_temperature
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

    def __init__(
        self,
        shape: Shape,
        *,
        axes: int = 1,
        query_temperature: QueryTemperature | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(shape)
        self.axes = whole_number("none", "axes", axes)
        self.query_temperature = read_temperature("none", query_temperature, self.axes)
        if self.query_temperature is not None:
            # it grows in steps with the position itself
            self.shift_invariant = self.bounded = self.real_positions = False

    def temperature(self, q_pos: Tensor) -> Tensor | None:
        return None if self.query_temperature is None else self.query_temperature.at(q_pos)
