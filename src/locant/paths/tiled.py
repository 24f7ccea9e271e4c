"""Attention with a bias from positions, a few query rows at a time: exact gradients, memory that grows with length.

    P = softmax(scale·q·kᵀ + bias),  out = P·v

The forward pass is torch's fused kernel, which keeps ℓ = log Σ exp. It knows no gradient for a bias, and under a bias that
falls steeply it is slow, so the backward pass is ours (`tiled_gradients`). Keys whose weights vanish are left out (`reach`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from locant.paths.reach import Span, lengths, of_piece, spans
from locant.paths.rows import Rows, nearest_first, rows_of, together, turned_rows, wide
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
    q, k, v = (tensor if tensor.stride(-1) == 1 else tensor.contiguous() for tensor in (q, k, v))  # or the kernel errs
    return _Tiled.apply(q, k, v, tiles, causal, scale, *tiles.learned)


def _at_once(q: Tensor, keys: int, tiles: Tiles, most: int) -> int:
    """As many query rows as are good; what is written down takes no more memory than queries and keys do, or a little."""
    piece = min(keys, wide(q.shape[1]))
    room = max(WRITTEN, 2 * q.numel()) // (tiles.matrices * piece) if tiles.matrices else most
    return max(1, min(most, room))


class _Tiled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, tiles: Tiles, causal: bool, scale: float, *learned: Tensor
    ) -> Tensor:
        out, logs = _forward(q, k, v, tiles, causal, scale)
        again = [tensor for tensor in tiles.read if not tensor.is_inference()]
        ctx.save_for_backward(q, k, v, out, logs, *again)  # torch then refuses to go on if one of them was changed
        ctx.tiles, ctx.causal, ctx.scale = tiles, causal, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, logs, *_ = ctx.saved_tensors
        asked, learns = Asked(q, k, v, out, logs, grads[0]), any(ctx.needs_input_grad[6:])
        at_once = _at_once(asked.q, asked.k.shape[-2], ctx.tiles, ROWS)
        found = gradients(asked, ctx.tiles, causal=ctx.causal, scale=ctx.scale, at_once=at_once, learns=learns)
        learned = found.learned if learns else [None] * len(ctx.tiles.learned)
        return found.q, found.k, found.v, None, None, None, *learned


def _forward(q: Tensor, k: Tensor, v: Tensor, tiles: Tiles, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    """The output (B,H,Q,d) and ℓ (B,H,Q), by torch's fused kernel."""
    queries, keys, width = q.shape[-2], k.shape[-2], wide(q.shape[1])
    turned, norms, longest_k = q.flip(-2), q.norm(dim=-1) * abs(scale), lengths(k, v)
    out, logs = torch.zeros_like(turned), q.new_full((*q.shape[:-1], 1), -math.inf)  # their queries are turned too

    def look(rows: Rows) -> tuple[Tensor, list[list[Span]]]:
        bias, longest_q = tiles.at(rows).to(q.dtype), norms[..., rows.first : rows.last].amax(-1)
        if tiles.matrices and keys > width:
            so_far = turned_rows(logs, rows)[..., 0].aminmax(dim=-1)
            return bias, of_piece(bias, longest_q, longest_k, rows.start, *so_far)
        return bias, spans(bias, longest_q, longest_k, None)

    most = FORWARD
    if not tiles.matrices and (not causal or queries >= 4 * MANY):  # or much is computed that is hidden
        _, last = look(Rows(max(0, queries - FORWARD), queries, keys))
        most = MANY if all((one.first, one.last) == (0, keys) for head in last for one in head) else FORWARD
    for rows in rows_of(queries, keys, causal, _at_once(q, keys, tiles, most)):
        for piece in nearest_first(rows, width, keys - queries) if tiles.matrices else [rows]:
            bias, reached = look(piece)
            needed = [_hull(head) for head in zip(*reached, strict=True)]
            for heads, span in together(needed, len(needed)):
                if span.start < span.stop:
                    given, so_far, log = (turned_rows(tensor[:, heads], rows) for tensor in (turned, out, logs))
                    some_k, some_v = (tensor[:, heads, piece.start :][..., span, :] for tensor in (k, v))
                    some_bias = bias.expand(*q.shape[:2], -1, -1)[:, heads, :, span]
                    _join(so_far, log, *_seen(given, some_k, some_v, some_bias, scale))
    return out.flip(-2), logs[..., 0].flip(-1)


def _hull(spans: Iterable[Span]) -> tuple[int, int]:
    """From the first key that some batch row needs to the last."""
    some = [(one.first, one.last) for one in spans if one.first < one.last] or [(0, 0)]
    return min(first for first, _ in some), max(last for _, last in some)


def _seen(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """The output (B,H,Q,d) and ℓ (B,H,Q,1) of some queries over some keys; ℓ is −∞ for one that sees none of them."""
    out, logs = getattr(torch.ops.aten, KERNEL)(q, k, v, attn_mask=bias, scale=scale)
    logs = logs[..., None]
    if bool((bias[..., 0] == -math.inf).any()):
        nothing = bias.amax(-1, keepdim=True) == -math.inf  # what the kernel says of these is not to be relied on
        out, logs = out.masked_fill(nothing, 0.0), logs.masked_fill(nothing, -math.inf)
    return out, logs


def _join(out: Tensor, logs: Tensor, some: Tensor, its: Tensor) -> None:
    """Add what more keys give to what there is: out = Σ_parts exp(ℓ_part − ℓ)·out_part, ℓ = log Σ_parts exp ℓ_part."""
    out.lerp_(some, torch.where(its == -math.inf, 0.0, torch.sigmoid(its - logs)))
    torch.logaddexp(logs, its, out=logs)
