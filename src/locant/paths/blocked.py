"""Attention with a bias that learns, or with queries wider than the values, a few batch rows at a time.

The fused CPU kernel knows no gradient for a bias and wants one width, and torch then falls back to whole (B,H,Q,K)
tensors that leave the processor's cache at every step. Here the scores of a few rows are made, used and dropped while they
are still in it; only the weights P are kept:

    forward    P = softmax(scale·q·kᵀ + bias),  out = P·v
    backward   dP = g·vᵀ,  dS = P∘(dP − rowsum(g∘out)),  dbias = Σ_rows dS
               dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

TOGETHER = 1 << 17  # scores: what fits in a second-level cache


def blocked(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float) -> Tensor:
    """q (B,H,Q,d), k (B,H,K,d), v (B,H,K,·) of any width, bias broadcastable to (B,H,Q,K) or none: (B,H,Q,·)."""
    if bias is not None:
        rows = bias.shape[0] if bias.dim() == 4 else 1
        bias = bias.expand(rows, q.shape[1], q.shape[2], k.shape[2])
    return _Blocked.apply(q, k, v, bias, scale)


class _Blocked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float) -> Tensor:
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()  # read many times below
        batch, heads, queries, _ = q.shape
        out = q.new_empty(batch, heads, queries, v.shape[-1])
        weights = q.new_empty(batch, heads, queries, k.shape[-2])
        for rows in _rows(weights):
            scores = torch.bmm(_flat(q, rows), _flat(k, rows).mT).view(weights[rows].shape)
            if bias is None:
                scores.mul_(scale)
            else:
                torch.add(_of(bias, rows), scores, alpha=scale, out=scores)
            torch.softmax(scores, -1, out=weights[rows])
            torch.bmm(_flat(weights, rows), _flat(v, rows), out=_flat(out, rows))
        ctx.save_for_backward(q, k, v, weights, out)
        ctx.scale, ctx.bias_rows = scale, 0 if bias is None else len(bias)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g,) = grads
        q, k, v, weights, out = ctx.saved_tensors
        g = g.contiguous()
        dq, dk, dv = (torch.empty_like(t) for t in (q, k, v))
        dbias = q.new_zeros(ctx.bias_rows, *weights.shape[1:]) if ctx.needs_input_grad[3] else None
        shared = (g * out).sum(-1, keepdim=True)  # (B, H, Q, 1)
        for rows in _rows(weights):
            flat = _flat(weights, rows), _flat(g, rows)
            torch.bmm(flat[0].mT, flat[1], out=_flat(dv, rows))
            ds = torch.bmm(flat[1], _flat(v, rows).mT).sub_(_flat(shared, rows)).mul_(flat[0])
            if dbias is not None:
                some = _of(dbias, rows)
                some += ds.view(weights[rows].shape).sum_to_size(some.shape)
            torch.bmm(ds, _flat(k, rows), out=_flat(dq, rows))
            torch.bmm(ds.mT, _flat(q, rows), out=_flat(dk, rows))
        return dq.mul_(ctx.scale), dk.mul_(ctx.scale), dv, dbias, None


def _rows(weights: Tensor) -> list[slice]:
    """Batch rows that are done together."""
    at_once = max(1, TOGETHER // max(1, weights[0].numel())) if len(weights) else 1
    return [slice(first, first + at_once) for first in range(0, len(weights), at_once)]


def _flat(tensor: Tensor, rows: slice) -> Tensor:
    """(B,H,·,·) to (some of B · H, ·, ·)."""
    return tensor[rows].flatten(0, 1)


def _of(bias: Tensor, rows: slice) -> Tensor:
    """Its rows; one that all share is all there is."""
    return bias if len(bias) == 1 else bias[rows]
