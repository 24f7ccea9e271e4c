"""Attention with a bias that learns, one batch row at a time.

The fused CPU kernel knows no gradient for a bias, and torch then falls back to whole (B,H,Q,K) tensors that leave the
processor's cache at every step. Here each row's scores are made, used and dropped while they are still in it:

    forward    P = softmax(scale·q·kᵀ + bias),  out = P·v                              (P is kept)
    backward   dP = g·vᵀ,  dS = P∘(dP − rowsum(g∘out)),  dbias = Σ_rows dS,  dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def blocked(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float) -> Tensor:
    """q (B,H,Q,d), k and v (B,H,K,·), bias (1|B, 1|H, Q, K): (B,H,Q,·)."""
    heads = q.shape[1]
    return _Blocked.apply(q, k, v, bias.expand(-1, heads, -1, -1), scale)


class _Blocked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float) -> Tensor:
        batch, heads, queries, _ = q.shape
        out = q.new_empty(batch, heads, queries, v.shape[-1])
        weights = q.new_empty(batch, heads, queries, k.shape[-2])
        for row in range(batch):
            own = bias[row if len(bias) > 1 else 0]
            scores = torch.baddbmm(own, q[row], k[row].mT, alpha=scale)
            torch.softmax(scores, -1, out=weights[row])
            torch.bmm(weights[row], v[row], out=out[row])
        ctx.save_for_backward(q, k, v, weights, out)
        ctx.scale, ctx.shared_bias = scale, len(bias) == 1
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (g,) = grads
        q, k, v, weights, out = ctx.saved_tensors
        dq, dk, dv = (torch.empty(t.shape, dtype=t.dtype) for t in (q, k, v))
        one = weights.shape[1:]
        dbias = weights.new_zeros(1 if ctx.shared_bias else len(weights), *one)
        shared = (g * out).sum(-1, keepdim=True)  # (B, H, Q, 1)
        ds = weights.new_empty(one)
        for row in range(len(weights)):
            torch.bmm(g[row], v[row].mT, out=ds)
            torch.bmm(weights[row].mT, g[row], out=dv[row])
            ds.sub_(shared[row]).mul_(weights[row])
            dbias[0 if ctx.shared_bias else row].add_(ds)
            torch.bmm(ds, k[row], out=dq[row])
            torch.bmm(ds.mT, q[row], out=dk[row])
        return dq.mul_(ctx.scale), dk.mul_(ctx.scale), dv, dbias, None
