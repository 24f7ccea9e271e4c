"""What a bias must answer to be taken a block of queries at a time, never materialized as a whole.

`ToeplitzBias` shows one line of numbers as a matrix, `ComputedBias` computes each block, and
`MaskedBias` is either of them under a mask; `by_blocks` makes the one that a call needs.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor

from locant.attention.backends.tiled.blocking import QueryBlock


class BiasGradient(Protocol):
    """Gathers the gradient of a block of the bias, given in parts."""

    def add(self, row: int, heads: slice, first: int, part: Tensor) -> None:
        """Add what some heads of a batch row give, from key `first` on.

        part  (heads, queries, keys); where `zero_columns`, at least as many zero columns as queries
              follow
        """

    def finish(self) -> None:
        """Pass the gradient on, when all of the block has been given."""


class BlockBias(Protocol):
    """A bias by blocks of queries."""

    @property
    def learned(self) -> tuple[Tensor, ...]:
        """The tensors that the gradient of the bias goes to."""

    @property
    def read(self) -> tuple[Tensor, ...]:
        """Return the tensors that `block` reads; none may change before the backward pass."""

    @property
    def matrices(self) -> int:
        """How many matrices (queries, keys) a block holds in memory; 0 for a view of a line."""

    @property
    def fully_masked(self) -> Tensor | None:
        """Return which queries see no key, (…, Q, 1); None when a mask hides no query's keys."""

    @property
    def zero_columns(self) -> bool:
        """Whether `gradient` wants zero columns behind each part."""

    def with_leaves(self) -> BlockBias:
        """Return the same bias with states that are leaves, in the order of `learned`.

        Then the gradient of a block ends there, and does not go on into the layer's input.
        """

    def with_aliases(self) -> BlockBias:
        """Return the same bias with states that are views of their own, in the same graph.

        Then queries and keys get a gradient each, even where one tensor is the state of both.
        """

    def block(self, block: QueryBlock) -> Tensor:
        """Give the queries of a block in reverse order: (1|B, 1|H, queries, keys)."""

    def gradient(self, block: QueryBlock, bias: Tensor, learned: list[Tensor]) -> BiasGradient:
        """Make what gathers the gradient of a block and adds it to `learned`.

        bias  what `block` gave, made with gradients on
        """


class ByBlocks(NamedTuple):
    """What is added to the scores, the mask and the causal order included."""

    bias: BlockBias
    causal: bool


def materialize_blocks(bias: BlockBias, queries: int, keys: int) -> Tensor:
    """Materialize all of a bias: (1|B, 1|H, Q, K)."""
    return bias.block(QueryBlock(0, queries, keys)).flip(-2)


def of_heads(numbers: Tensor, heads: slice) -> Tensor:
    """Slice some heads; numbers that all heads share are returned as they are."""
    return numbers if len(numbers) == 1 else numbers[heads]
