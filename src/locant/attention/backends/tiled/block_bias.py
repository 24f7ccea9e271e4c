"""A bias that is never materialized as a whole: one block of queries at a time.

`ToeplitzBias` is for a bias that depends on distance alone, at evenly spaced positions. Its matrix
has equal diagonals, so one line of Q + K − 1 numbers holds all of it:

    bias(i, j) = line[j − i + Q − 1]

With the queries in reverse order, row r and column j need line[j + r + const]: strides of 1 and 1
show the line to the fused kernel as a matrix. `ComputedBias` is for any other bias from positions:
it is computed block by block. `MaskedBias` is either of them under a mask.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from locant.attention.backends.tiled.blocking import QueryBlock
from locant.attention.masks import additive_mask
from locant.encodings.base import Encoding


class States(NamedTuple):
    """What an encoding's `sense` returned for the queries (B,1|H,Q,·) and the keys (B,1|H,K,·)."""

    q: Tensor
    k: Tensor


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


def materialize(bias: BlockBias, queries: int, keys: int) -> Tensor:
    """Materialize all of a bias: (1|B, 1|H, Q, K)."""
    return bias.block(QueryBlock(0, queries, keys)).flip(-2)


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
        line = _of_heads(self.line[0], heads)[:, begin : begin + wide - 1]
        line += sums[:, : line.shape[1]].sum_to_size(line.shape)  # what lies past the end is zero

    def finish(self) -> None:
        """Do nothing: every sum is where it belongs."""


@dataclass(frozen=True)
class ComputedBias:
    """An encoding's bias at positions q_pos, k_pos, and at states if the encoding has some."""

    encoding: Encoding
    batch: int
    q_pos: Tensor
    k_pos: Tensor
    causal: bool
    states: States | None = None
    acting: tuple[Tensor, ...] | None = None  # the parameters that the bias reads; None: all

    @property
    def learned(self) -> tuple[Tensor, ...]:
        parameters = self.encoding.parameters() if self.acting is None else self.acting
        tensors = [*parameters, *(self.states or ())]
        return tuple(tensor for tensor in tensors if tensor.requires_grad)

    def with_leaves(self) -> BlockBias:
        if self.states is None:
            return self
        leaves = [state.detach().requires_grad_(state.requires_grad) for state in self.states]
        return replace(self, states=States(*leaves))

    def with_aliases(self) -> BlockBias:
        if self.states is None:
            return self
        return replace(self, states=States(*(state.view_as(state) for state in self.states)))

    @property
    def read(self) -> tuple[Tensor, ...]:
        numbers = (*self.encoding.parameters(), *self.encoding.buffers())
        return (*numbers, self.q_pos, self.k_pos, *(self.states or ()))

    zero_columns: ClassVar = False

    @property
    def matrices(self) -> int:
        shared = 1 if self.encoding.axes == 1 else 2  # dimensions of positions that all rows share
        rows = max(pos.shape[0] if pos.dim() > shared else 1 for pos in (self.q_pos, self.k_pos))
        if self.states is not None:
            rows = self.batch
        return rows * self.encoding.shape.heads

    def block(self, block: QueryBlock) -> Tensor:
        axis = -1 if self.encoding.axes == 1 else -2
        queries, keys = block.last - block.first, block.keys - block.start
        q_pos = self.q_pos.narrow(axis, block.first, queries).flip(axis)
        k_pos = self.k_pos.narrow(axis, block.start, keys)
        states = None
        if self.states is not None:
            q_state = self.states.q.narrow(-2, block.first, queries).flip(-2)
            states = States(q_state, self.states.k.narrow(-2, block.start, keys))
        sizes = (self.batch, self.encoding.shape.heads, queries, keys)
        bias = compute_bias(self.encoding, q_pos, k_pos, sizes, states)
        assert bias is not None  # or there would be no ComputedBias
        ahead = self.k_pos.shape[axis] - self.q_pos.shape[axis]
        if not self.causal or block.keys <= block.first + ahead + 1:
            return bias
        query = (
            torch.arange(block.last - 1, block.first - 1, -1, device=bias.device)[:, None] + ahead
        )
        may_see = torch.arange(block.start, block.keys, device=bias.device) <= query
        return bias + additive_mask(may_see, bias.dtype)

    def gradient(self, block: QueryBlock, bias: Tensor, learned: list[Tensor]) -> BiasGradient:
        used_once = (self.batch, self.encoding.shape.heads) == (1, bias.shape[1])
        return _ThroughComputation(self.learned, bias, learned, used_once, block.start)


class _ThroughComputation:
    """The gradient of a materialized block, passed on to an encoding's parameters."""

    def __init__(
        self,
        tensors: tuple[Tensor, ...],
        bias: Tensor,
        totals: list[Tensor],
        used_once: bool,
        start: int,
    ) -> None:
        self.tensors, self.bias, self.start = tensors, bias, start  # bias (1|B, 1|H, queries, keys)
        self.totals = totals  # one for each of the tensors
        self.used_once = used_once  # each number serves one batch row and head
        self.numbers: Tensor | None = None  # the gradient of `bias`; None is 0

    def add(self, row: int, heads: slice, first: int, part: Tensor) -> None:
        if self.used_once and part.shape == self.bias.shape[1:]:
            self.numbers = part[
                None
            ]  # the only part; it is used before its memory is written again
            return
        if self.numbers is None:
            self.numbers = torch.zeros_like(self.bias, memory_format=torch.contiguous_format)
        numbers = _of_heads(self.numbers[row % len(self.numbers)], heads)[..., first - self.start :]
        numbers = numbers[..., : part.shape[-1]]
        numbers += part.sum_to_size(numbers.shape)

    def finish(self) -> None:
        if (
            self.numbers is None or not self.bias.requires_grad
        ):  # parameters may act through another hook
            return
        given = torch.autograd.grad(self.bias, self.tensors, self.numbers, allow_unused=True)
        for total, part in zip(self.totals, given, strict=True):
            if part is not None:
                total += part


@dataclass(frozen=True)
class MaskedBias:
    """A bias under a mask (1|B, 1|H, 1|Q, K).

    Fully masked queries see every key here; their output is set to 0 later.
    """

    bias: BlockBias
    mask: Tensor
    fully_masked: Tensor | None
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
    def zero_columns(self) -> bool:
        return self.bias.zero_columns

    def with_leaves(self) -> BlockBias:
        return replace(self, bias=self.bias.with_leaves())

    def with_aliases(self) -> BlockBias:
        return replace(self, bias=self.bias.with_aliases())

    def block(self, block: QueryBlock) -> Tensor:
        may_see = _queries(self.mask, block)[..., block.start : block.keys]
        if self.fully_masked is not None:
            may_see = may_see | _queries(self.fully_masked, block)
        bias = self.bias.block(block)
        return bias + additive_mask(may_see, bias.dtype)

    def gradient(self, block: QueryBlock, bias: Tensor, learned: list[Tensor]) -> BiasGradient:
        return self.bias.gradient(block, bias, learned)


def _queries(tensor: Tensor, block: QueryBlock) -> Tensor:
    """Slice the queries of a block out of (…, 1|Q, ·), in reverse order."""
    return tensor if tensor.shape[-2] == 1 else tensor[..., block.first : block.last, :].flip(-2)


def _of_heads(numbers: Tensor, heads: slice) -> Tensor:
    """Slice some heads; numbers that all heads share are returned as they are."""
    return numbers if len(numbers) == 1 else numbers[heads]


def compute_bias(
    encoding: Encoding,
    q_pos: Tensor,
    k_pos: Tensor,
    sizes: tuple[int, int, int, int],
    states: States | None = None,
) -> Tensor | None:
    """Compute what an encoding adds to the scores, from positions and states: (1|B, 1|H, Q, K)."""
    bias = check_bias(encoding, encoding.bias(q_pos, k_pos), sizes)
    if states is None:
        return bias
    found = encoding.state_bias(q_pos, k_pos, states.q, states.k)
    more = check_bias(encoding, found, sizes, hook="state_bias")
    if bias is None or more is None:
        return more if bias is None else bias
    return bias + more


def check_bias(
    encoding: Encoding,
    bias: Tensor | None,
    sizes: tuple[int, int, int, int],
    hook: str = "bias",
) -> Tensor | None:
    """Check what an encoding's hook returned against (B,H,Q,K) and give it four dimensions."""
    if bias is None:
        return None
    batch, heads, queries, keys = sizes
    bias = bias if bias.is_floating_point() else bias.float()
    full = bias.reshape((1,) * (4 - bias.dim()) + tuple(bias.shape)) if bias.dim() < 4 else bias
    fits = full.dim() == 4 and full.shape[0] in (1, batch) and full.shape[1] in (1, heads)
    if not fits or tuple(full.shape[2:]) != (queries, keys):
        raise ValueError(
            f"{type(encoding).__name__}.{hook} gave the shape {tuple(bias.shape)}.\n"
            f"  Allowed: (1 or {batch}, 1 or {heads}, {queries}, {keys}); "
            "`difference(q_pos, k_pos)` gives such a shape."
        )
    return full
