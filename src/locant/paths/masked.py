"""A bias by rows under a mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from locant.paths.masks import hidden
from locant.paths.rows import Rows
from locant.paths.tiles import Gradient, Tiles


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
