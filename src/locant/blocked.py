"""Attention with a bias that learns, or with queries wider than the values, one batch row at a time.

The fused CPU kernel knows no gradient for a bias and wants one width, and torch then falls back to whole (B,H,Q,K)
tensors that leave the processor's cache at every step. Here each row's scores are made, used and dropped while they
are still in it; only the weights P are kept:

    forward    P = softmax(scale·q·kᵀ + bias),  out = P·v
    backward   dP = g·vᵀ,  dS = P∘(dP − rowsum(g∘out)),  dbias = Σ_rows dS
               dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


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
        scores = q.new_empty(weights.shape[1:])
        for row in range(batch):
            if bias is None:
                torch.bmm(q[row], k[row].mT, out=scores).mul_(scale)
            else:
                torch.baddbmm(bias[row % len(bias)], q[row], k[row].mT, alpha=scale, out=scores)
            torch.softmax(scores, -1, out=weights[row])
            torch.bmm(weights[row], v[row], out=out[row])
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
        ds = q.new_empty(weights.shape[1:])
        for row in range(len(q)):
            torch.bmm(g[row], v[row].mT, out=ds)
            torch.bmm(weights[row].mT, g[row], out=dv[row])
            ds.sub_(shared[row]).mul_(weights[row])
            if dbias is not None:
                dbias[row % ctx.bias_rows].add_(ds)
            torch.bmm(ds, k[row], out=dq[row])
            torch.bmm(ds.mT, q[row], out=dk[row])
        return dq.mul_(ctx.scale), dk.mul_(ctx.scale), dv, dbias, None
