"""Attention line by line, with scores and weights: the oracle that every other backend must equal.

    scores = q·kᵀ·scale                                        hook: rescore
    scores = scores + bias, −∞ where the mask hides            hook: bias
    out = softmax(scores) · v                                  hook: mix

Where all weights together would fill the memory, queries are taken block by block, and computed
again when gradients need them.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from locant import positions
from locant.attention.inputs import AttentionInputs
from locant.attention.masks import additive_mask, causal_mask, materialize, seen_keys
from locant.encodings.base import needs_scores, overrides

MAX_SCORES = 1 << 27  # that are held at once: half a gigabyte in float32
SCORES_AT_ONCE = 1 << 21  # in blocks, when there are more
GEMV_MIN_KEY_ELEMENTS = 1 << 16  # of one head's keys, from which one query goes head by head,
BATCHED_GEMV = (
    torch.backends.cpu.get_cpu_capability() == "AVX512"
)  # unless all heads at once are quicker


class AttentionWithWeights(NamedTuple):
    """The output (B,H,Q,d) of attention, its scores and its weights (B,H,Q,K)."""

    out: Tensor
    scores: Tensor
    weights: Tensor


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    *,
    scale: float,
    drop: nn.Dropout | None,
) -> Tensor:
    batch, heads, queries, _ = q.shape
    few = not positions.visible(q) or q.shape[:-1].numel() * k.shape[-2] < MAX_SCORES
    if few or inputs.sizes[2] == 1:
        return attend_with_weights(q, k, v, inputs, scale=scale, drop=drop).out
    at_once = max(1, SCORES_AT_ONCE // (batch * heads * k.shape[-2]))
    blocks = []
    for first in reversed(
        range(0, queries, at_once)
    ):  # the most keys first: later blocks fit in freed memory
        last = min(queries, first + at_once)
        blocks.append(_one_block(q, k, v, inputs, first, last, scale, drop))
    return torch.cat(blocks[::-1], -2)


def _one_block(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    first: int,
    last: int,
    scale: float,
    drop: nn.Dropout | None,
) -> Tensor:
    """Compute queries first..last−1, and nothing that the backward pass can compute again."""
    _, _, queries, keys = inputs.sizes
    if inputs.causal and last + keys - queries <= 0:  # these queries come before every key
        return v.new_zeros(*q.shape[:2], last - first, v.shape[-1])

    def block(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mine = inputs.block(first, last)
        keys = mine.sizes[-1]
        k, v = k[..., :keys, :], v[..., :keys, :]
        return attend_with_weights(q, k, v, mine, scale=scale, drop=drop).out

    some = q[..., first:last, :]
    return (
        checkpoint(block, some, k, v, use_reentrant=False)
        if torch.is_grad_enabled()
        else block(some, k, v)
    )


def attend_with_weights(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    *,
    scale: float,
    drop: nn.Dropout | None = None,
) -> AttentionWithWeights:
    """Attend from rotated q (B,H,Q,·) to rotated k (B,H,K,·) and v (B,H,K,d).

    drop  dropout of the attention weights"""
    encoding, q_pos, k_pos = inputs.encoding, inputs.q_pos, inputs.k_pos
    materialized = materialize(inputs, q.dtype)
    attn_bias, unseeing, causal = materialized
    may_see = seen_keys(materialized, q, k) if needs_scores(encoding) else None
    precise = torch.promote_types(q.dtype, torch.float32)
    q = q * scale
    scores = _products(q, k).to(precise)  # (B, H, Q, K)
    if overrides(encoding, "rescore"):
        scores = encoding.rescore(scores, q.to(precise), k.to(precise), q_pos, k_pos, may_see)
    if attn_bias is not None:
        scores = scores + attn_bias.to(precise)
    elif causal:
        scores = scores + additive_mask(
            causal_mask(q.shape[-2], k.shape[-2], scores.device), precise
        )
    weights = scores.softmax(-1).to(v.dtype)
    if unseeing is not None:
        weights = weights.masked_fill(unseeing, 0.0)
    if drop is not None:
        weights = drop(weights)
    return AttentionWithWeights(encoding.mix(weights, v, q_pos, k_pos, may_see), scores, weights)


def _products(q: Tensor, k: Tensor) -> Tensor:
    """Compute q·kᵀ, (B,H,Q,K).

    One query over many keys goes head by head, matrix times vector, where only that is as quick as
    memory.
    """
    many = k.shape[-2] * k.shape[-1] >= GEMV_MIN_KEY_ELEMENTS if positions.visible(k) else False
    if not many or BATCHED_GEMV or q.shape[-2] != 1 or q.device.type != "cpu" or not k.numel():
        return q @ k.mT
    keys = [head for row in k.unbind() for head in row.unbind()]  # (K, d) each
    each = [head @ query for head, query in zip(keys, q.flatten(0, 2).unbind(), strict=True)]
    return torch.stack(each).view(*q.shape[:-1], -1)
