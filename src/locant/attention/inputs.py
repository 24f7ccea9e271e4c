"""What positions and a mask decide, prepared once for a forward pass and shared by all layers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from locant.attention.backends.tiled.block_bias import (
    BlockBias,
    ComputedBias,
    MaskedBias,
    States,
    ToeplitzBias,
    check_bias,
    compute_bias,
)
from locant.attention.masks import (
    additive_mask,
    causal_mask,
    check_mask,
    fully_masked,
    fully_masked_by_first,
    none_if_all_false,
)
from locant.attention.recomputing import BiasFacts, examine_bias
from locant.attention.validation import check_states
from locant.encodings.base import Encoding, senses


class Materialized(NamedTuple):
    """What is added to the scores, as a tensor.

    attn_bias     broadcastable to (B, H, Q, K): the bias, −∞ where the mask hides; None when
                  nothing is added
    fully_masked  (…, Q, 1) boolean: queries that see nothing; their output is 0
    causal        a plain causal order, left to the kernels
    """

    attn_bias: Tensor | None
    fully_masked: Tensor | None
    causal: bool


class ByBlocks(NamedTuple):
    """The same by blocks of queries, the causal order included."""

    bias: BlockBias
    fully_masked: Tensor | None


class AttentionInputs:
    """An encoding at given positions, under a mask.

    Each form of the bias is computed when a backend first asks for it."""

    def __init__(
        self,
        encoding: Encoding,
        q_pos: Tensor,
        k_pos: Tensor,
        *,
        batch: int,
        causal: bool,
        mask: Tensor | None,
        precomputed: Any = None,
        states: States | None = None,
    ) -> None:
        self.encoding, self.q_pos, self.k_pos = encoding, q_pos, k_pos
        self.batch, self.causal, self.mask, self.precomputed = batch, causal, mask, precomputed
        self.states = states  # of the tokens of one layer, if the encoding has a `sense`
        self.axis = -1 if encoding.axes == 1 else -2  # of the tokens in positions
        self.only_materialized = False  # `materialized` is the only form there is
        self._facts: BiasFacts | None = None
        self._materialized: Materialized | None = None
        self._by_blocks: dict[torch.dtype, ByBlocks] = {}

    @property
    def queries(self) -> int:
        return self.q_pos.shape[self.axis]

    @property
    def keys(self) -> int:
        return self.k_pos.shape[self.axis]

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """(B, H, Q, K)."""
        return self.batch, self.encoding.shape.heads, self.queries, self.keys

    @property
    def bias_facts(self) -> BiasFacts:
        """Facts about the bias, examined when they are first asked for."""
        if self._facts is None:
            self._facts = examine_bias(
                self.encoding, self.q_pos, self.k_pos, self.batch, self.states
            )
        return self._facts

    def materialized(self, dtype: torch.dtype) -> Materialized:
        """Materialize bias, mask and order; a plain mask takes the dtype of the queries."""
        if self._materialized is None:
            self._materialized = self._materialize(dtype)
        return self._materialized

    def _materialize(self, dtype: torch.dtype) -> Materialized:
        queries, keys = self.queries, self.keys
        may_see, plain_causal = self._may_see()
        unseeing = None
        if may_see is not None and (self.mask is not None or queries > keys):
            unseeing = fully_masked(may_see)
        if may_see is not None and unseeing is not None:
            may_see = (
                may_see | unseeing
            )  # a softmax over nothing would be NaN; the output is set to 0 later
        bias = compute_bias(self.encoding, self.q_pos, self.k_pos, self.sizes, self.states)
        if bias is None:
            bias = None if may_see is None else additive_mask(may_see, dtype)
            return Materialized(bias, unseeing, plain_causal)
        if plain_causal:
            may_see = causal_mask(queries, keys, bias.device)
        if may_see is not None:
            bias = bias.masked_fill(~may_see, -math.inf)
        return _let_hidden_rows_see(bias, unseeing)

    def _may_see(self) -> tuple[Tensor | None, bool]:
        """Give the mask of what may be seen, and whether a plain causal order says it all."""
        queries, keys = self.queries, self.keys
        if not self.causal or queries == 1:  # a single query is the last one and sees every key
            return self.mask, False
        if self.mask is None and queries == keys:
            return None, True
        order = causal_mask(queries, keys, self.q_pos.device)
        return (order if self.mask is None else order & self.mask), False

    def by_blocks(self, dtype: torch.dtype) -> ByBlocks:
        """Return the bias by query blocks, under the mask and the causal order, in float32 or
        wider."""
        if dtype not in self._by_blocks:
            self._by_blocks[dtype] = self._make_blocks(dtype)
        return self._by_blocks[dtype]

    def _make_blocks(self, dtype: torch.dtype) -> ByBlocks:
        bias = self._block_bias(dtype)
        if self.mask is None:
            return ByBlocks(bias, None)
        unseeing = fully_masked_by_first(self.mask, self.queries, causal=self.causal)
        shared = (
            isinstance(bias, ToeplitzBias) and bias.line.shape[1] == 1 and self.mask.shape[1] == 1
        )
        heads = 1 if shared else self.encoding.shape.heads
        return ByBlocks(MaskedBias(bias, self.mask, unseeing, heads), unseeing)

    def _block_bias(self, dtype: torch.dtype) -> BlockBias:
        facts = self.bias_facts
        if facts.kind == "computed":
            return ComputedBias(
                self.encoding,
                self.batch,
                self.q_pos,
                self.k_pos,
                self.causal,
                self.states,
                facts.parameters,
            )
        count = self.queries + self.keys - 1
        if facts.spacing is None:  # no bias: a line of zeros holds the causal order
            line = torch.zeros(1, 1, count, dtype=dtype, device=self.q_pos.device)
        else:
            step, ahead = facts.spacing
            start = ahead + step * (self.queries - 1)
            offsets = torch.arange(count, device=self.k_pos.device) * step
            sizes = (1, self.encoding.shape.heads, 1, count)
            found = check_bias(self.encoding, self.encoding.bias(start.reshape(1), offsets), sizes)
            assert found is not None  # `bias_facts` would say so
            line = found[:, :, 0].to(dtype)  # (1, 1|H, Q + K − 1)
        if self.causal:
            ahead_of_query = torch.arange(count, device=line.device) >= self.keys
            line = line.masked_fill(ahead_of_query, -math.inf)
        return ToeplitzBias(line.contiguous(), self.queries)

    def block(self, first: int, last: int) -> AttentionInputs:
        """Cut out queries first..last−1, with the keys that they may see."""
        keys = last + self.keys - self.queries if self.causal else self.keys
        mask = self.mask
        if mask is not None:
            mask = mask[..., :keys] if mask.shape[-2] == 1 else mask[..., first:last, :keys]
        q_pos = self.q_pos.narrow(self.axis, first, last - first)
        k_pos = self.k_pos.narrow(self.axis, 0, keys)
        states = self.states
        if states is not None:
            states = States(states.q[..., first:last, :], states.k[..., :keys, :])
        return AttentionInputs(
            self.encoding,
            q_pos,
            k_pos,
            batch=self.batch,
            causal=self.causal,
            mask=mask,
            states=states,
        )

    def with_states(self, q_state: Tensor, k_state: Tensor) -> AttentionInputs:
        """Return the same inputs with the states of one layer's tokens."""
        return AttentionInputs(
            self.encoding,
            self.q_pos,
            self.k_pos,
            batch=self.batch,
            causal=self.causal,
            mask=self.mask,
            precomputed=self.precomputed,
            states=States(q_state, k_state),
        )

    def grouped(self, groups: int, dtype: torch.dtype) -> AttentionInputs:
        """Give the inputs of one query a head as those of H/G queries a key head."""
        attn_bias, unseeing, causal = self.materialized(dtype)
        if attn_bias is not None and attn_bias.shape[1] > 1:
            attn_bias = attn_bias.reshape(
                attn_bias.shape[0], groups, -1, attn_bias.shape[-1]
            )  # (1|B,G,H/G,K)
        if unseeing is not None and unseeing.shape[1] > 1:
            unseeing = unseeing.reshape(unseeing.shape[0], groups, -1, 1)
        mine = AttentionInputs(
            self.encoding, self.q_pos, self.k_pos, batch=self.batch, causal=False, mask=self.mask
        )
        mine.only_materialized = True
        mine._materialized = Materialized(attn_bias, unseeing, causal)
        return mine


def _let_hidden_rows_see(bias: Tensor, unseeing: Tensor | None) -> Materialized:
    """Find queries from which the bias hides every key by −∞: they see nothing, as under a mask."""
    if not bias.shape[-1]:
        return Materialized(bias, unseeing, False)
    hidden = none_if_all_false(
        bias.detach().amax(-1, keepdim=True) == -math.inf
    )  # (1|B, 1|H, Q, 1)
    if hidden is not None:
        bias = bias.masked_fill(hidden, 0.0)
        unseeing = hidden if unseeing is None else unseeing | hidden
    return Materialized(bias, unseeing, False)


def prepare(
    encoding: Encoding,
    q_pos: Tensor,
    k_pos: Tensor,
    *,
    like: Tensor,
    causal: bool = False,
    mask: Tensor | None = None,
    rotated_pos: Tensor | None = None,
) -> AttentionInputs:
    """Prepare a forward pass for tokens or queries `like` (B, …).

    rotated_pos  the keys' positions for `rotate`, when only new keys are rotated (a cache holds the
                 others)
    """
    precomputed = encoding.precompute(
        q_pos, k_pos if rotated_pos is None else rotated_pos, like.dtype
    )
    inputs = AttentionInputs(
        encoding,
        q_pos,
        k_pos,
        batch=like.shape[0],
        causal=causal,
        mask=None,
        precomputed=precomputed,
    )
    if mask is not None:
        inputs.mask = check_mask(mask, inputs.sizes, like.device)
    return inputs


def prepare_step(
    encoding: Encoding,
    pos: Tensor,
    before: Tensor | None,
    *,
    like: Tensor,
    mask: Tensor | None = None,
) -> AttentionInputs:
    """Prepare new tokens at `pos` over old ones at `before` and themselves, causally."""
    axis = -1 if encoding.axes == 1 else -2
    before = pos.narrow(axis, 0, 0) if before is None else before
    rows = {p.shape[0] if p.dim() + axis > 0 else 0 for p in (pos, before)}
    if len(rows) > 1:  # (T) or (1,T) beside (B,T)
        tail = -axis
        pos, before = (p.expand(like.shape[0], *p.shape[-tail:]) for p in (pos, before))
    rotated = pos if encoding.cacheable_keys else None
    both = torch.cat([before, pos], axis)
    return prepare(encoding, pos, both, like=like, causal=True, mask=mask, rotated_pos=rotated)


def rotate(
    inputs: AttentionInputs, q: Tensor, k: Tensor, k_pos: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Rotate queries and keys by their positions; `k_pos`, when only some of the keys are given."""
    k_pos = inputs.k_pos if k_pos is None else k_pos
    encoding, q_pos = inputs.encoding, inputs.q_pos
    if inputs.precomputed is None:
        q, k = encoding.rotate(q, k, q_pos, k_pos)
    else:
        q, k = encoding.rotate(q, k, q_pos, k_pos, inputs.precomputed)
    temperature = encoding.temperature(q_pos)
    if temperature is None:
        return q, k
    return q * temperature[..., None, :, None].to(q.dtype), k


def sense(inputs: AttentionInputs, x: Tensor, past: Tensor | None = None) -> AttentionInputs:
    """Add the states of a layer's tokens x (B,T,D), if the encoding has a `sense`.

    past  the states of the tokens in the cache; those of x follow them
    """
    if not senses(inputs.encoding):
        return inputs
    state = inputs.encoding.sense(x, inputs.q_pos, past)
    if state is None:
        raise ValueError(f"{type(inputs.encoding).__name__}.sense returned None for some tokens.")
    batch, heads, queries, keys = inputs.sizes
    all_states = state if past is None else torch.cat([past, state], -2)
    check_states(inputs.encoding, (state, all_states), (batch, heads, queries, keys))
    return inputs.with_states(state, all_states)
