"""Mask, causal order and bias as one tensor that is added to the scores.

A mask is boolean, True = may be seen. Queries that see no key at all are found here too: a softmax
over nothing would be NaN, so they see every key, and their output is set to 0 later.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from locant import positions
from locant.encodings.hooks import compute_bias

if TYPE_CHECKING:
    from locant.attention.inputs import AttentionInputs


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


def materialize(inputs: AttentionInputs, dtype: torch.dtype) -> Materialized:
    """Materialize bias, mask and order, and keep them in `inputs`; a mask alone takes the dtype."""
    if inputs.materialized is None:
        inputs.materialized = _materialize(inputs, dtype)
    return inputs.materialized


def _materialize(inputs: AttentionInputs, dtype: torch.dtype) -> Materialized:
    _, _, queries, keys = inputs.sizes
    may_see, plain_causal = _may_see(inputs)
    unseeing = None
    if may_see is not None and (inputs.mask is not None or queries > keys):
        unseeing = fully_masked(may_see)
    if may_see is not None and unseeing is not None:
        may_see = may_see | unseeing
    bias = compute_bias(inputs.encoding, inputs.q_pos, inputs.k_pos, inputs.sizes, inputs.states)
    if bias is None:
        bias = None if may_see is None else additive_mask(may_see, dtype)
        return Materialized(bias, unseeing, plain_causal)
    if plain_causal:
        may_see = causal_mask(queries, keys, bias.device)
    if may_see is not None:
        bias = bias.masked_fill(~may_see, -math.inf)
    return _let_hidden_rows_see(bias, unseeing)


def _may_see(inputs: AttentionInputs) -> tuple[Tensor | None, bool]:
    """Give the mask of what may be seen, and whether a plain causal order says it all."""
    _, _, queries, keys = inputs.sizes
    if not inputs.causal or queries == 1:  # a single query is the last one and sees every key
        return inputs.mask, False
    if inputs.mask is None and queries == keys:
        return None, True
    order = causal_mask(queries, keys, inputs.q_pos.device)
    return (order if inputs.mask is None else order & inputs.mask), False


def _let_hidden_rows_see(bias: Tensor, unseeing: Tensor | None) -> Materialized:
    """Find queries from which the bias hides every key by −∞: they see nothing, as under a mask."""
    if not bias.shape[-1]:
        return Materialized(bias, unseeing, False)
    highest = bias.detach().amax(-1, keepdim=True)  # (1|B, 1|H, Q, 1)
    hidden = none_if_all_false(highest == -math.inf)
    if hidden is not None:
        bias = bias.masked_fill(hidden, 0.0)
        unseeing = hidden if unseeing is None else unseeing | hidden
    return Materialized(bias, unseeing, False)


def seen_keys(materialized: Materialized, q: Tensor, k: Tensor) -> Tensor | None:
    """Say which keys each query may see, broadcastable to (B,H,Q,K); None when they see all."""
    attn_bias, unseeing, causal = materialized
    if causal:
        return causal_mask(q.shape[-2], k.shape[-2], q.device)
    if attn_bias is None:
        return None
    may_see = attn_bias.detach() != -math.inf
    return may_see if unseeing is None else may_see & ~unseeing


def additive_mask(may_see: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn a boolean mask into numbers to add to scores: 0 where it lets see, −∞ where not.

    Adding numbers costs far less on a CPU than filling by a mask.
    """
    zeros = torch.zeros(may_see.shape, dtype=dtype, device=may_see.device)
    return zeros.masked_fill_(~may_see, float("-inf"))


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """Make the causal mask (Q,K): key j may be seen by query i when j ≤ i + K − Q."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def fully_masked(may_see: Tensor) -> Tensor | None:
    """Find the queries that see no key, (…, Q, 1); None when every query is known to see some.

    A GPU is not kept waiting for the answer: there the tensor is returned even if it is all False.
    """
    return none_if_all_false(~may_see.any(-1, keepdim=True))


def fully_masked_by_first(mask: Tensor, queries: int, *, causal: bool) -> Tensor | None:
    """Find the same for a mask (…, 1|Q, K) and a causal order that is not materialized.

    Query i sees keys up to i + K − Q, so it sees none when the first key that the mask shows is
    later.

    >>> mask = torch.tensor([[False, True, True]])
    >>> fully_masked_by_first(mask, 3, causal=True).flatten().tolist()
    [True, False, False]
    """
    if not causal:
        return fully_masked(mask)
    keys = mask.shape[-1]
    first = (
        mask.view(torch.uint8)
        .argmax(-1, keepdim=True)
        .masked_fill(~mask.any(-1, keepdim=True), keys)
    )
    last = torch.arange(queries, device=mask.device)[:, None] + keys - queries
    return none_if_all_false(first > last)


def none_if_all_false(queries: Tensor) -> Tensor | None:
    """Drop a boolean tensor that is known to be all False, where knowing costs no wait."""
    known = queries.device.type == "cpu" and positions.visible(queries)
    return None if known and not bool(queries.any()) else queries
