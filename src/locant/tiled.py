"""Attention with a bias from positions, a few query rows at a time: exact gradients, memory that grows with length.

    forward    P = softmax(scale·q·kᵀ + bias),  out = P·v       by torch's fused kernel, which keeps ℓ = log Σ exp
    backward   P = exp(scale·q·kᵀ + bias − ℓ),  dS = P∘(g·vᵀ − rowsum(g∘out))
               dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g,  and dS itself is the gradient of the bias

The fused kernel knows no gradient for a bias, and under a bias that falls steeply it is slow, so the backward pass is done
here. −ℓ and −rowsum ride along as one more column of the products. Keys whose weights vanish are left out (`reach`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from locant.reach import Span, least, lengths, spans
from locant.tiles import Rows, Tiles

FORWARD, BACKWARD = 256, 64  # query rows at once; backward at least
KEYS = 2048  # keys at once in the backward pass: what two products share stays in the cache
WRITTEN = 1 << 22  # numbers of a bias that may be written down at once, however few queries there are
WORTH = 0.75  # of the keys; a kernel call for each head when they need less than that
KERNEL = "_scaled_dot_product_flash_attention_for_cpu"


def available() -> bool:
    """Whether this torch has the kernel, which is not part of its public interface."""
    return hasattr(torch.ops.aten, KERNEL)


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
        norms, longest_k = q.norm(dim=-1) * abs(scale), lengths(k)
        for rows in _rows(q, k.shape[-2], causal, at_once):
            bias, these = tiles.at(rows).to(q.dtype), slice(rows.first, rows.last)
            reached = spans(bias, norms[..., these].amax(-1), longest_k, None)
            given = _turned_rows(turned, rows)
            for heads, keys in _together(reached):
                some, log = getattr(torch.ops.aten, KERNEL)(
                    given[:, heads],
                    k[:, heads, keys],
                    v[:, heads, keys],
                    attn_mask=bias.expand(*q.shape[:2], -1, -1)[:, heads, :, keys],
                    scale=scale,
                )
                out[:, heads, these] = some.flip(-2)
                logs[:, heads, these] = log.flip(-1)
        ctx.save_for_backward(q, k, v, out, logs)
        ctx.tiles, ctx.causal, ctx.scale = tiles, causal, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        dq, dk, dv, learned = _backward(ctx, grads[0], learns=any(ctx.needs_input_grad[6:]))
        return dq, dk, dv, None, None, None, *learned


def _turned_rows(turned: Tensor, rows: Rows) -> Tensor:
    queries = turned.shape[-2]
    return turned[..., queries - rows.last : queries - rows.first, :]


def _together(reached: list[list[Span]]) -> list[tuple[slice, slice]]:
    """Heads that go to the kernel together, and the keys that they need: each head alone where that saves enough."""
    spread = [(min(row.first for row in head), max(row.last for row in head)) for head in zip(*reached, strict=True)]
    first, last = min(start for start, _ in spread), max(stop for _, stop in spread)
    if sum(stop - start for start, stop in spread) > WORTH * len(spread) * (last - first):
        return [(slice(None), slice(first, last))]
    return [(slice(head, head + 1), slice(*keys)) for head, keys in enumerate(spread)]


def _backward(ctx: Any, g: Tensor, *, learns: bool) -> tuple[Tensor, Tensor, Tensor, list[Tensor | None]]:
    """The gradients of q, k, v and of all that the bias has learnt."""
    q, k, v, out, logs = ctx.saved_tensors
    tiles: Tiles = ctx.tiles
    batch, heads, _, width = q.shape
    one = k.new_ones(()).expand(*k.shape[:-1], 1)
    turned_q = torch.cat([q * ctx.scale, -logs[..., None]], -1).flip(-2).flatten(0, 1)  # (B·H, Q, d + 1)
    turned_g = torch.cat([g, -(g * out).sum(-1, keepdim=True)], -1).flip(-2).flatten(0, 1)
    wide_k, wide_v = (torch.cat([tensor, one], -1).flatten(0, 1) for tensor in (k, v))
    norms, longest_k = q.norm(dim=-1) * abs(ctx.scale), lengths(k)
    dq, dk, dv = (tensor.new_zeros(batch * heads, *tensor.shape[2:]) for tensor in (q, k, v))
    learned = [torch.zeros_like(tensor) for tensor in tiles.learned]
    at_once, nothing = _at_once(q, k.shape[-2], tiles, _backward_rows(k.shape[-2])), least(q.dtype)
    scratch = q.new_empty(2, at_once * (min(KEYS, k.shape[-2]) + at_once))
    for rows in _rows(q, k.shape[-2], ctx.causal, at_once):
        bias, these = tiles.at(rows).to(q.dtype), slice(rows.first, rows.last)
        reached = spans(bias, norms[..., these].amax(-1), longest_k, logs[..., these].aminmax(dim=-1))
        gathered = tiles.gradient(rows, bias) if learns else None
        count = rows.last - rows.first
        views = (
            *(_turned_rows(tensor, rows).unbind() for tensor in (turned_q, turned_g)),
            *(tensor[:, : rows.keys].unbind() for tensor in (wide_k, wide_v, dk, dv)),
            dq[:, dq.shape[1] - rows.last : dq.shape[1] - rows.first].unbind(),
        )
        for place, (q_, g_, k_, v_, dk_, dv_, dq_) in enumerate(zip(*views, strict=True)):
            row, head = divmod(place, heads)
            bias_, span = bias[row % bias.shape[0], head % bias.shape[1]], reached[row][head]
            for first in range(span.first, span.last, KEYS):
                last = min(first + KEYS, span.last)
                wide = last - first
                weights = scratch[0, : count * wide].view(count, wide)
                block = scratch[1, : count * (wide + count)].view(count, wide + count)
                ds = block[:, :wide]
                torch.addmm(bias_[:, first:last], q_, k_[first:last].mT, out=weights)
                if span.fades(first, last):
                    torch.threshold_(weights.clamp_min_(nothing - 1).exp_(), math.exp(nothing), 0.0)
                else:
                    weights.exp_()
                torch.mm(g_, v_[first:last].mT, out=ds).mul_(weights)
                dv_[first:last].addmm_(weights.mT, g_[:, :width])
                dk_[first:last].addmm_(ds.mT, q_[:, :width])
                dq_.addmm_(ds, k_[first:last, :width])
                if gathered is not None:
                    block[:, wide:] = 0
                    gathered.add(row, head, first, block)
        if gathered is not None:
            for total, part in zip(learned, gathered.learned(), strict=True):
                total += part
    dq, dk, dv = (tensor.unflatten(0, (batch, heads)) for tensor in (dq.flip(-2).mul_(ctx.scale), dk, dv))
    return dq, dk, dv, [*learned] if learns else [None] * len(learned)


def _backward_rows(keys: int) -> int:
    """Query rows at once: few enough for the cache, enough for the products."""
    return max(BACKWARD, min(4 * BACKWARD, (1 << 19) // min(keys, KEYS)))
