r"""Query temperature: far queries are multiplied by more, so that long contexts stay sharp.

    temperature(p) = 1 + β·ln(1 + ⌊(p + offset)/length⌋)

Llama 4 has offset 1 (in the layers that do not turn), Ministral 3 offset 0 (in all layers). It
multiplies the queries after they are rotated. Positions below 0 are given what 0 is given.

>>> llama4 = QueryTemperature(beta=0.1, length=8192, offset=1)
>>> [round(t, 6) for t in llama4.at(torch.tensor([0, 8190, 8191, 16383])).tolist()]
[1.0, 1.0, 1.069315, 1.109861]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from locant._internal.checks import build_from_settings, positive, whole_number
from locant.encodings.base import wide


@dataclass(frozen=True)
class QueryTemperature:
    """How much the queries grow, and every how many positions they do."""

    beta: float
    length: int
    offset: int = 0

    def __post_init__(self) -> None:
        positive("query_temperature", "beta", self.beta)
        whole_number("query_temperature", "length", self.length)
        whole_number("query_temperature", "offset", self.offset, least=0)

    def at(self, q_pos: Tensor) -> Tensor:
        """What multiplies the queries at positions (…, Q): (…, Q), in float64."""
        steps = ((q_pos.to(wide(q_pos.device)) + self.offset) / self.length).floor()
        return 1 + self.beta * torch.log1p(steps.clamp_min(0))


def read_temperature(
    owner: str, settings: QueryTemperature | Mapping[str, Any] | None, axes: int
) -> QueryTemperature | None:
    """A query temperature from what a user wrote: {"beta": 0.1, "length": 8192, "offset": 1}.

    >>> read_temperature("rotary", {"beta": 0.1, "length": 8192}, axes=1)
    QueryTemperature(beta=0.1, length=8192, offset=0)
    """
    if settings is None:
        return None
    if axes > 1:
        raise ValueError(
            f"{owner}: query_temperature goes by one number a position, but there are axes={axes}."
            "\n  Leave query_temperature out, or use one axis."
        )
    if isinstance(settings, QueryTemperature):
        return settings
    if not isinstance(settings, Mapping) or not settings:
        raise ValueError(
            f"{owner} was asked for query_temperature={settings!r}.\n"
            '  Write {"beta": 0.1, "length": 8192, "offset": 1}, as Llama 4 has it.'
        )
    return build_from_settings(f"{owner}: query_temperature", QueryTemperature, settings)
