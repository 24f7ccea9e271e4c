"""Any bias from positions and states, computed one block of queries at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from locant.attention.backends.tiled.block_bias import BiasGradient, BlockBias, of_heads
from locant.attention.backends.tiled.blocking import QueryBlock
from locant.attention.masks import additive_mask
from locant.encodings.base import Encoding
from locant.encodings.hooks import States, compute_bias


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

    fully_masked: ClassVar = None
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
        if not self.bias.requires_grad:  # nothing learned acts on this block, or by another hook
            return
        if self.used_once and part.shape == self.bias.shape[1:]:
            self.numbers = part[
                None
            ]  # the only part; it is used before its memory is written again
            return
        if self.numbers is None:
            self.numbers = torch.zeros_like(self.bias, memory_format=torch.contiguous_format)
        numbers = of_heads(self.numbers[row % len(self.numbers)], heads)[..., first - self.start :]
        numbers = numbers[..., : part.shape[-1]]
        numbers += part.sum_to_size(numbers.shape)

    def finish(self) -> None:
        if self.numbers is None:
            return
        given = torch.autograd.grad(self.bias, self.tensors, self.numbers, allow_unused=True)
        for total, part in zip(self.totals, given, strict=True):
            if part is not None:
                total += part
