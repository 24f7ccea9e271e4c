"""A bias by blocks of queries, under a mask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from torch import Tensor

from locant.attention.backends.tiled.block_bias import BiasGradient, BlockBias
from locant.attention.backends.tiled.blocking import QueryBlock
from locant.attention.masks import additive_mask, fully_masked_by_first


@dataclass(frozen=True)
class MaskedBias:
    """A bias under a mask (1|B, 1|H, 1|Q, K).

    Fully masked queries see every key here; their output is set to 0 later.
    """

    bias: BlockBias
    mask: Tensor
    queries: int
    causal: bool
    heads: int

    @cached_property
    def fully_masked(self) -> Tensor | None:
        return fully_masked_by_first(self.mask, self.queries, causal=self.causal)

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
        return self._of(self.bias.with_leaves())

    def with_aliases(self) -> BlockBias:
        return self._of(self.bias.with_aliases())

    def _of(self, bias: BlockBias) -> BlockBias:
        return self if bias is self.bias else replace(self, bias=bias)

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
