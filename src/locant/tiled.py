"""Attention with a bias from positions, a few query rows at a time: exact gradients, memory that grows with length.

    forward    P = softmax(scale·q·kᵀ + bias),  out = P·v       by torch's fused kernel, which keeps ℓ = log Σ exp
    backward   P = exp(scale·q·kᵀ + bias − ℓ),  dS = P∘(g·vᵀ − rowsum(g∘out))
               dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g,  and dS itself is the gradient of the bias

The fused kernel knows no gradient for a bias, so the backward pass is done here when there is one to be learnt; a bias
that is given goes through the kernel both ways. −ℓ and −rowsum ride along as one more column of the products.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from locant.tiles import Rows, Tiles

FORWARD, BACKWARD = 512, 64  # query rows at once; backward at least
KEYS = 2048  # keys at once in the backward pass: what two products share stays in the cache
WRITTEN = 1 << 22  # numbers of a bias that may be written down at once, however few queries there are
KERNEL = "_scaled_dot_product_flash_attention_for_cpu"


def available() -> bool:
    """Whether this torch has the kernels, which are not part of its public interface."""
    return all(hasattr(torch.ops.aten, name) for name in (KERNEL, f"{KERNEL}_backward"))


def tiled(q: Tensor, k: Tensor, v: Tensor, tiles: Tiles, *, causal: bool, scale: float) -> Tensor:
    """q (B,H,Q,d), k and v (B,H,K,d): (B,H,Q,d). With `causal`, Q ≤ K and the last query is aligned with the last key."""
    return _Tiled.apply(q, k, v, tiles, causal, scale, *tiles.learned)


def _rows(q: Tensor, keys: int, causal: bool, at_once: int) -> Iterator[Rows]:
    queries = q.shape[-2]
    for first in range(0, queries, at_once):
        last = min(queries, first + at_once)
        yield Rows(first, last, last + keys - queries if causal else keys)


def _at_once(q: Tensor, keys: int, tiles: Tiles, most: int) -> int:
    """As many query rows as are good; what is written down takes no more memory than the queries do, or a little."""
    room = max(WRITTEN, q.numel()) // (tiles.matrices * keys) if tiles.matrices else most
    return max(1, min(most, room))


class _Tiled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, tiles: Tiles, causal: bool, scale: float, *learned: Tensor
    ) -> Tensor:
        out, logs = torch.empty_like(q), q.new_empty(q.shape[:-1])
        turned, at_once = q.flip(-2), _at_once(q, k.shape[-2], tiles, FORWARD)
        for rows in _rows(q, k.shape[-2], causal, at_once):
            some, log = getattr(torch.ops.aten, KERNEL)(*_seen(turned, k, v, rows), **_told(q, tiles, rows, scale))
            out[..., rows.first : rows.last, :] = some.flip(-2)
            logs[..., rows.first : rows.last] = log.flip(-1)
        ctx.save_for_backward(q, k, v, out, logs)
        ctx.tiles, ctx.causal, ctx.scale = tiles, causal, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        learns = any(ctx.needs_input_grad[6:])
        dq, dk, dv, learned = (_by_hand if learns else _by_kernel)(ctx, grads[0])
        return dq, dk, dv, None, None, None, *learned


def _seen(turned: Tensor, k: Tensor, v: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
    """Queries in reverse order, and the keys and values that they may see."""
    return _turned_rows(turned, rows), k[..., : rows.keys, :], v[..., : rows.keys, :]


def _turned_rows(turned: Tensor, rows: Rows) -> Tensor:
    queries = turned.shape[-2]
    return turned[..., queries - rows.last : queries - rows.first, :]


def _told(q: Tensor, tiles: Tiles, rows: Rows, scale: float) -> dict[str, Any]:
    bias = tiles.at(rows).to(q.dtype)
    return {"attn_mask": bias.expand(q.shape[0], q.shape[1], -1, -1), "scale": scale}


def _by_kernel(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, Tensor, list[None]]:
    """The gradients of q, k, v by the fused kernel; the bias is given."""
    q, k, v, out, logs = ctx.saved_tensors
    dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
    turned = [tensor.flip(-2) for tensor in (g, q, out, logs[..., None])]
    at_once = _at_once(q, k.shape[-2], ctx.tiles, FORWARD)
    for rows in _rows(q, k.shape[-2], ctx.causal, at_once):
        g_some, q_some, out_some, log_some = (_turned_rows(tensor, rows) for tensor in turned)
        keys, values = k[..., : rows.keys, :], v[..., : rows.keys, :]
        told = _told(q, ctx.tiles, rows, ctx.scale)
        given = getattr(torch.ops.aten, f"{KERNEL}_backward")(
            g_some, q_some, keys, values, out_some, log_some[..., 0], 0.0, False, **told
        )
        dq[..., rows.first : rows.last, :] = given[0].flip(-2)
        dk[..., : rows.keys, :] += given[1]
        dv[..., : rows.keys, :] += given[2]
    return dq, dk, dv, [None] * len(ctx.tiles.learned)


def _by_hand(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
    """The gradients of q, k, v and of all that the bias has learnt."""
    q, k, v, out, logs = ctx.saved_tensors
    tiles: Tiles = ctx.tiles
    batch, heads, _, width = q.shape
    one = k.new_ones(()).expand(*k.shape[:-1], 1)
    turned_q = torch.cat([q * ctx.scale, -logs[..., None]], -1).flip(-2).flatten(0, 1)  # (B·H, Q, d + 1)
    turned_g = torch.cat([g, -(g * out).sum(-1, keepdim=True)], -1).flip(-2).flatten(0, 1)
    wide_k, wide_v = (torch.cat([tensor, one], -1).flatten(0, 1) for tensor in (k, v))
    dq, dk, dv = (tensor.new_zeros(batch * heads, *tensor.shape[2:]) for tensor in (q, k, v))
    learned = [torch.zeros_like(tensor) for tensor in tiles.learned]
    at_once, space = _at_once(q, k.shape[-2], tiles, _backward_rows(k.shape[-2])), None
    for rows in _rows(q, k.shape[-2], ctx.causal, at_once):
        bias = tiles.at(rows).to(q.dtype)
        count, shared = rows.last - rows.first, bias.shape[:2]  # batch rows and heads that have one bias add up
        size = (*shared, count, rows.keys + count)
        if space is None:  # once for all: blocks of growing sizes would leave holes in memory
            space = q.new_empty(shared.numel() * at_once * (k.shape[-2] + at_once))
        room = space[: math.prod(size)].view(size)
        room[..., rows.keys :] = 0
        biases, rooms = bias.flatten(0, 1), room.flatten(0, 1)[..., : rows.keys]
        views = (
            *(_turned_rows(tensor, rows).unbind() for tensor in (turned_q, turned_g)),
            *(tensor[:, : rows.keys].unbind() for tensor in (wide_k, wide_v, dk, dv)),
            dq[:, dq.shape[1] - rows.last : dq.shape[1] - rows.first].unbind(),
        )
        for place, (q_some, g_some, k_some, v_some, dk_some, dv_some, dq_some) in enumerate(zip(*views, strict=True)):
            row, head = divmod(place, heads)
            which = row % shared[0] * shared[1] + head % shared[1]
            owner = place == row % shared[0] * heads + head % shared[1]
            for first in range(0, rows.keys, KEYS):
                some = slice(first, first + KEYS)
                weights = torch.addmm(biases[which, :, some], q_some, k_some[some].mT).exp_()
                ds = rooms[which, :, some] if owner else torch.empty_like(weights)
                torch.mm(g_some, v_some[some].mT, out=ds).mul_(weights)
                dv_some[some].addmm_(weights.mT, g_some[:, :width])
                dk_some[some].addmm_(ds.mT, q_some[:, :width])
                dq_some.addmm_(ds, k_some[some, :width])
                if not owner:
                    rooms[which, :, some] += ds
        for total, part in zip(learned, tiles.gradients(rows, room), strict=True):
            total += part
    dq, dk, dv = (tensor.unflatten(0, (batch, heads)) for tensor in (dq.flip(-2).mul_(ctx.scale), dk, dv))
    return dq, dk, dv, learned


def _backward_rows(keys: int) -> int:
    """Query rows at once: few enough for the cache, enough for the products."""
    return max(BACKWARD, min(4 * BACKWARD, (1 << 19) // min(keys, KEYS)))
