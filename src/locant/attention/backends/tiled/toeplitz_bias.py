"""A bias that depends on distance alone, at evenly spaced positions.

Its matrix has equal diagonals, so one line of Q + K − 1 numbers holds all of it:

    bias(i, j) = line[j − i + Q − 1]

With the queries in reverse order, row r and column j need line[j + r + const]: strides of 1 and 1
show the line to the fused kernel as a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from locant.attention.backends.tiled.block_bias import BiasGradient, BlockBias, of_heads
from locant.attention.backends.tiled.blocking import QueryBlock


@dataclass(frozen=True)
class ToeplitzBias:
    """A line of Q + K − 1 numbers: (1, 1|H, Q + K − 1)."""

    line: Tensor
    queries: int

    @property
    def learned(self) -> tuple[Tensor, ...]:
        return (self.line,)

    @property
    def read(self) -> tuple[Tensor, ...]:
        return (self.line,)

    fully_masked: ClassVar = None
    matrices: ClassVar = 0
    zero_columns: ClassVar = True

    def with_leaves(self) -> BlockBias:
        return self

    def with_aliases(self) -> BlockBias:
        return self

    def block(self, block: QueryBlock) -> Tensor:
        size = (1, self.line.shape[1], block.last - block.first, block.keys - block.start)
        strides = (0, self.line.stride(1), 1, 1)
        first = self.line.storage_offset() + self.queries - block.last + block.start
        return self.line.as_strided(size, strides, first)

    def gradient(self, block: QueryBlock, bias: Tensor, learned: list[Tensor]) -> BiasGradient:
        return _AlongDiagonals(learned[0], self.queries - block.last)


@dataclass(frozen=True)
class _AlongDiagonals:
    """Sum along diagonals, (1, 1|H, Q + K − 1); the block's first query begins at `start`."""

    line: Tensor
    start: int

    def add(self, row: int, heads: slice, first: int, part: Tensor) -> None:
        many, count, wide = part.shape
        slanted = part.as_strided(
            (many, count, wide - 1), (count * wide, wide - 1, 1), part.storage_offset()
        )
        sums = slanted.sum(
            1
        )  # query r begins r columns to the left: (heads, keys + zero columns − 1)
        begin = self.start + first
        line = of_heads(self.line[0], heads)[:, begin : begin + wide - 1]
        line += sums[:, : line.shape[1]].sum_to_size(line.shape)  # what lies past the end is zero

    def finish(self) -> None:
        """Do nothing: every sum is where it belongs."""
