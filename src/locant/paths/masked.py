"""Masks: what may be seen as numbers to add, queries that see nothing, and a bias by rows under a mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from locant import positions
from locant.paths.rows import Rows
from locant.paths.tiles import Gradient, Tiles


def hidden(see: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where a boolean mask lets see, −∞ where not: adding it costs far less on a CPU than filling by the mask."""
    return torch.zeros(see.shape, dtype=dtype, device=see.device).masked_fill_(~see, float("-inf"))


def blind(see: Tensor) -> Tensor | None:
    """Which queries see nothing; None when all are known to see something (a GPU is not kept waiting to know it)."""
    return _if_any(~see.any(-1, keepdim=True))


def blind_by_first(mask: Tensor, queries: int, *, causal: bool) -> Tensor | None:
    """The same for a mask (…, 1|Q, K) and a causal order that is not written down: query i sees keys up to i + K − Q.

    >>> blind_by_first(torch.tensor([[False, True, True]]), 3, causal=True).flatten().tolist()
    [True, False, False]
    """
    if not causal:
        return blind(mask)
    keys = mask.shape[-1]
    first = mask.byte().argmax(-1, keepdim=True).masked_fill(~mask.any(-1, keepdim=True), keys)
    last = torch.arange(queries, device=mask.device)[:, None] + keys - queries
    return _if_any(first > last)


def _if_any(queries: Tensor) -> Tensor | None:
    known = queries.device.type == "cpu" and positions.visible(queries)
    return None if known and not bool(queries.any()) else queries


@dataclass(frozen=True)
class Masked:
    """A bias by rows, under a mask (1|B, 1|H, 1|Q, K); queries that see nothing are let see, their output does not count."""

    bias: Tiles
    mask: Tensor
    blind: Tensor | None
    heads: int

    @property
    def learned(self) -> tuple[Tensor, ...]:
        return self.bias.learned

    @property
    def read(self) -> tuple[Tensor, ...]:
        return (*self.bias.read, self.mask)

    @property
    def matrices(self) -> int:
        return max(self.bias.matrices, self.mask.shape[0] * self.heads)

    @property
    def room(self) -> bool:
        return self.bias.room

    told: ClassVar = "written a few rows at a time, under a mask"

    def at(self, rows: Rows) -> Tensor:
        see = _rows(self.mask, rows)[..., rows.start : rows.keys]
        see = see if self.blind is None else see | _rows(self.blind, rows)
        bias = self.bias.at(rows)
        return bias + hidden(see, bias.dtype)

    def gradient(self, rows: Rows, bias: Tensor, learned: list[Tensor]) -> Gradient:
        return self.bias.gradient(rows, bias, learned)


def _rows(tensor: Tensor, rows: Rows) -> Tensor:
    """These queries of (…, 1|Q, ·), in reverse order."""
    return tensor if tensor.shape[-2] == 1 else tensor[..., rows.first : rows.last, :].flip(-2)
