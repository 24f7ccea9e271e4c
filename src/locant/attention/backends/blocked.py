"""Attention with a learned bias, or with queries wider than the values, a few batch rows at a time.

The fused CPU kernel knows no gradient for a bias and wants one width, and torch then falls back to
whole (B,H,Q,K) tensors that leave the processor's cache at every step. Here the scores of a few
rows are made, used and dropped while they are still in it; only the weights P are kept:

    forward    P = softmax(scale·q·kᵀ + bias),  out = P·v
    backward   dP = g·vᵀ,  dS = P∘(dP − rowsum(g∘out)),  dbias = Σ_rows dS
               dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from locant.attention.backends.second_order import differentiable_gradients
from locant.attention.masks import Materialized, additive_mask, causal_mask

SCORES_AT_ONCE = 1 << 17  # what fits in a second-level cache


def run(
    q: Tensor, k: Tensor, v: Tensor, bias: Materialized, *, scale: float, drop: nn.Dropout | None
) -> Tensor:
    attn_bias, unseeing, causal = bias
    if causal:
        attn_bias = additive_mask(causal_mask(q.shape[-2], k.shape[-2], q.device), q.dtype)
    if attn_bias is not None:
        rows = attn_bias.shape[0] if attn_bias.dim() == 4 else 1
        attn_bias = attn_bias.to(q.dtype).expand(rows, q.shape[1], q.shape[2], k.shape[2])
    with torch.autocast(q.device.type, enabled=False):
        out = _Blocked.apply(q.contiguous(), k.contiguous(), v.contiguous(), attn_bias, scale)
    return out if unseeing is None else out.masked_fill(unseeing, 0.0)


class _Blocked(torch.autograd.Function):
    """q (B,H,Q,d), k (B,H,K,d), v (B,H,K,·) of any width, bias (1|B,H,Q,K) or none: (B,H,Q,·)."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float
    ) -> Tensor:
        batch, heads, queries, _ = q.shape
        out = q.new_empty(batch, heads, queries, v.shape[-1])
        weights = q.new_empty(batch, heads, queries, k.shape[-2])
        for rows in _batches(weights):
            scores = torch.bmm(_flat(q, rows), _flat(k, rows).mT).view(weights[rows].shape)
            if bias is None:
                scores.mul_(scale)
            else:
                torch.add(_of(bias, rows), scores, alpha=scale, out=scores)
            torch.softmax(scores, -1, out=weights[rows])
            torch.bmm(_flat(weights, rows), _flat(v, rows), out=_flat(out, rows))
        ctx.save_for_backward(q, k, v, weights, out, bias)
        ctx.scale, ctx.bias_rows = scale, 0 if bias is None else len(bias)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g,) = grads
        q, k, v, weights, out, bias = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradients will be differentiated themselves
            others = [] if bias is None else [bias]
            found = differentiable_gradients(q, k, v, lambda: bias, others, ctx.scale, g)
            return *found, *[None] * (5 - len(found))
        g = g.contiguous()
        dq, dk, dv = (torch.empty_like(t) for t in (q, k, v))
        dbias = q.new_zeros(ctx.bias_rows, *weights.shape[1:]) if ctx.needs_input_grad[3] else None
        shared = (g * out).sum(-1, keepdim=True)  # (B, H, Q, 1)
        for rows in _batches(weights):
            flat_weights, flat_g = _flat(weights, rows), _flat(g, rows)
            torch.bmm(flat_weights.mT, flat_g, out=_flat(dv, rows))
            ds = torch.bmm(flat_g, _flat(v, rows).mT).sub_(_flat(shared, rows)).mul_(flat_weights)
            if dbias is not None:
                some = _of(dbias, rows)
                some += ds.view(weights[rows].shape).sum_to_size(some.shape)
            torch.bmm(ds, _flat(k, rows), out=_flat(dq, rows))
            torch.bmm(ds.mT, _flat(q, rows), out=_flat(dk, rows))
        return dq.mul_(ctx.scale), dk.mul_(ctx.scale), dv, dbias, None


def _batches(weights: Tensor) -> list[slice]:
    """Cut the batch into rows that are computed together."""
    at_once = max(1, SCORES_AT_ONCE // max(1, weights[0].numel())) if len(weights) else 1
    return [slice(first, first + at_once) for first in range(0, len(weights), at_once)]


def _flat(tensor: Tensor, rows: slice) -> Tensor:
    """Join batch rows and heads: (B,H,·,·) → (rows · H, ·, ·)."""
    return tensor[rows].flatten(0, 1)


def _of(bias: Tensor, rows: slice) -> Tensor:
    """Slice the bias to these batch rows; a shared bias is returned as it is."""
    return bias if len(bias) == 1 else bias[rows]
