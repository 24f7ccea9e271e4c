"""Attention with a bias from positions, a few query rows at a time: exact gradients, memory that grows with length.

    P = softmax(scale·q·kᵀ + bias),  out = P·v

The forward pass is torch's fused kernel, which keeps ℓ = log Σ exp. It knows no gradient for a bias, and under a bias that
falls steeply it is slow, so the backward pass is ours (`tiled_gradients`). Keys whose weights vanish are left out (`reach`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from locant.paths.reach import Span, lengths, spans
from locant.paths.rows import Rows, rows_of, together, turned_rows, widest
from locant.paths.tiled_gradients import ROWS, Asked, gradients
from locant.paths.tiles import Tiles

FORWARD = 256  # query rows at once; with fewer than 192 the kernel takes them in smaller parts, much slower,
MANY = 768  # and from so many on in larger ones, quicker where no key can be left out
WRITTEN = 1 << 23  # numbers of a bias that may be written down at once, however few queries there are
KERNEL = "_scaled_dot_product_flash_attention_for_cpu"


def available() -> bool:
    """Whether this torch has the kernel, which is not part of its public interface."""
    return hasattr(torch.ops.aten, KERNEL)


def tiled(q: Tensor, k: Tensor, v: Tensor, tiles: Tiles, *, causal: bool, scale: float) -> Tensor:
    """q (B,H,Q,d), k and v (B,H,K,d): (B,H,Q,d). With `causal`, Q ≤ K and the last query is aligned with the last key."""
    return _Tiled.apply(q, k, v, tiles, causal, scale, *tiles.learned)


def _at_once(q: Tensor, keys: int, tiles: Tiles, most: int) -> int:
    """As many query rows as are good; what is written down takes no more memory than queries and keys do, or a little."""
    room = max(WRITTEN, 2 * q.numel()) // (tiles.matrices * keys) if tiles.matrices else most
    return max(1, min(most, room))


class _Tiled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, tiles: Tiles, causal: bool, scale: float, *learned: Tensor
    ) -> Tensor:
        out, logs = _forward(q, k, v, tiles, causal, scale)
        ctx.save_for_backward(q, k, v, out, logs)
        ctx.tiles, ctx.causal, ctx.scale = tiles, causal, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, logs = ctx.saved_tensors
        asked, learns = Asked(q, k, v, out, logs, grads[0]), any(ctx.needs_input_grad[6:])
        at_once = _at_once(asked.q, widest(asked.k.shape[-2]), ctx.tiles, ROWS)
        found = gradients(asked, ctx.tiles, causal=ctx.causal, scale=ctx.scale, at_once=at_once, learns=learns)
        learned = found.learned if learns else [None] * len(ctx.tiles.learned)
        return found.q, found.k, found.v, None, None, None, *learned


def _forward(q: Tensor, k: Tensor, v: Tensor, tiles: Tiles, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    """The output (B,H,Q,d) and ℓ (B,H,Q), by torch's fused kernel."""
    out, logs, turned = torch.empty_like(q), q.new_empty(q.shape[:-1]), q.flip(-2)
    norms, longest_k = q.norm(dim=-1) * abs(scale), lengths(k)
    queries, keys = q.shape[-2], k.shape[-2]

    def look(rows: Rows) -> tuple[Tensor, list[list[Span]]]:
        bias = tiles.at(rows).to(q.dtype)
        return bias, spans(bias, norms[..., rows.first : rows.last].amax(-1), longest_k, None)

    at_once = _at_once(q, keys, tiles, FORWARD)
    if not tiles.matrices and (not causal or queries >= 4 * MANY):  # or much is computed that is hidden
        _, last = look(Rows(max(0, queries - FORWARD), queries, keys))
        at_once = MANY if all((one.first, one.last) == (0, keys) for head in last for one in head) else FORWARD
    for rows in rows_of(queries, keys, causal, at_once):
        (bias, reached), these = look(rows), slice(rows.first, rows.last)
        needed = [
            (min(one.first for one in head), max(one.last for one in head)) for head in zip(*reached, strict=True)
        ]
        given = turned_rows(turned, rows)
        for heads, some_keys in together(needed, len(needed)):
            some, log = getattr(torch.ops.aten, KERNEL)(
                given[:, heads],
                k[:, heads, some_keys],
                v[:, heads, some_keys],
                attn_mask=bias.expand(*q.shape[:2], -1, -1)[:, heads, :, some_keys],
                scale=scale,
            )
            out[:, heads, these] = some.flip(-2)
            logs[:, heads, these] = log.flip(-1)
    return out, logs
