"""Attention with a bias from positions, one query block at a time, in memory linear in length.

    P = softmax(scale·q·kᵀ + bias),  out = P·v

The forward pass is torch's fused kernel, which keeps ℓ = log Σ exp. It knows no gradient for a
bias, and under a steep bias it is slow, so the backward pass is ours (`backward`). Keys whose
weights vanish are left out (`pruning`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from locant.attention.backends.second_order import differentiable_gradients
from locant.attention.backends.tiled import backward
from locant.attention.backends.tiled.backward import SavedForward, gradients
from locant.attention.backends.tiled.block_bias import BlockBias, ByBlocks, materialize_blocks
from locant.attention.backends.tiled.blocking import (
    QueryBlock,
    group_heads,
    nearest_pieces_first,
    piece_width,
    query_blocks,
    slice_reversed,
)
from locant.attention.backends.tiled.pruning import (
    KeyRange,
    key_ranges,
    longest_keys,
    ranges_in_piece,
)

QUERIES_AT_ONCE = (
    256  # with fewer than 192 torch's kernel takes them in smaller parts, much slower,
)
QUERIES_UNPRUNED = 768  # and from so many on in larger ones, quicker where no key can be pruned
MAX_BIAS_ELEMENTS = 1 << 23  # of a block that may be materialized, however few queries there are
KERNEL = "_scaled_dot_product_flash_attention_for_cpu"  # not in torch's public interface


def run(
    q: Tensor, k: Tensor, v: Tensor, bias: ByBlocks, *, scale: float, drop: nn.Dropout | None
) -> Tensor:
    by_blocks, causal = bias
    precise = torch.promote_types(q.dtype, torch.float32)  # half precision is computed in float32
    wide_q, wide_k, wide_v = q.to(precise), k.to(precise), v.to(precise)
    out = tiled_attention(wide_q, wide_k, wide_v, by_blocks, causal=causal, scale=scale)
    out = out.to(q.dtype)
    unseeing = by_blocks.fully_masked
    return out if unseeing is None else out.masked_fill(unseeing, 0.0)


def tiled_attention(
    q: Tensor, k: Tensor, v: Tensor, bias: BlockBias, *, causal: bool, scale: float
) -> Tensor:
    """Attend from q (B,H,Q,d) to k and v (B,H,K,d) under a bias that includes the causal order."""
    q, k, v = (t if t.stride(-1) == 1 else t.contiguous() for t in (q, k, v))  # or the kernel errs
    with torch.autocast(q.device.type, enabled=False):
        return _Tiled.apply(q, k, v, bias, causal, scale, *bias.learned)


def queries_at_once(q: Tensor, keys: int, bias: BlockBias, limit: int) -> int:
    """Choose the size of a query block so that its bias takes little more memory than q does."""
    if not bias.matrices:
        return max(1, limit)
    piece = min(keys, piece_width(q.shape[1]))
    fitting = max(MAX_BIAS_ELEMENTS, 2 * q.numel()) // (bias.matrices * piece)
    return max(1, min(limit, fitting))


class _Tiled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: BlockBias,
        causal: bool,
        scale: float,
        *learned: Tensor,
    ) -> Tensor:
        out, logs = _forward(q, k, v, bias, causal, scale)
        again = [tensor for tensor in bias.read if not tensor.is_inference()]
        ctx.save_for_backward(
            q, k, v, out, logs, *again
        )  # torch then refuses if one of them was changed
        ctx.bias, ctx.causal, ctx.scale = bias, causal, scale
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, logs, *_ = ctx.saved_tensors
        (grad,) = grads
        if torch.is_grad_enabled():  # the gradients will be differentiated themselves
            bias = ctx.bias.with_aliases()
            make_bias = lambda: materialize_blocks(bias, q.shape[-2], k.shape[-2])  # noqa: E731
            dq, dk, dv, *others = differentiable_gradients(
                q, k, v, make_bias, bias.learned, ctx.scale, grad
            )
            return dq, dk, dv, None, None, None, *others
        bias = ctx.bias.with_leaves()
        learns = any(ctx.needs_input_grad[6:])
        at_once = queries_at_once(q, k.shape[-2], bias, backward.QUERIES_AT_ONCE)
        saved = SavedForward(q, k, v, out, logs, grad)
        with torch.autocast(q.device.type, enabled=False):
            found = gradients(
                saved, bias, causal=ctx.causal, scale=ctx.scale, at_once=at_once, learns=learns
            )
        learned = found.learned if learns else [None] * len(bias.learned)
        return found.q, found.k, found.v, None, None, None, *learned


def _forward(
    q: Tensor, k: Tensor, v: Tensor, bias: BlockBias, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    """Compute the output (B,H,Q,d) and ℓ (B,H,Q) by torch's fused kernel."""
    queries, keys, width = q.shape[-2], k.shape[-2], piece_width(q.shape[1])
    reversed_q, norms, longest_k = q.flip(-2), q.norm(dim=-1) * abs(scale), longest_keys(k, v)
    out = torch.zeros_like(reversed_q)  # in reverse order too, like the logarithms
    logs = q.new_full((*q.shape[:-1], 1), -math.inf)

    def examine(block: QueryBlock) -> tuple[Tensor, list[list[KeyRange]]]:
        numbers = bias.block(block).to(q.dtype)
        longest_q = norms[..., block.first : block.last].amax(-1)
        if bias.matrices and keys > width:
            so_far = slice_reversed(logs, block)[..., 0].aminmax(dim=-1)
            return numbers, ranges_in_piece(numbers, longest_q, longest_k, block.start, *so_far)
        return numbers, key_ranges(numbers, longest_q, longest_k, None)

    limit = QUERIES_AT_ONCE
    if not bias.matrices and (
        not causal or queries >= 4 * QUERIES_UNPRUNED
    ):  # or much is computed in vain
        _, last = examine(QueryBlock(max(0, queries - QUERIES_AT_ONCE), queries, keys))
        if all((one.first, one.last) == (0, keys) for row in last for one in row):
            limit = QUERIES_UNPRUNED
    for block in query_blocks(queries, keys, causal, queries_at_once(q, keys, bias, limit)):
        pieces = nearest_pieces_first(block, width, keys - queries) if bias.matrices else [block]
        for piece in pieces:
            numbers, ranges = examine(piece)
            needed = [_hull(head) for head in zip(*ranges, strict=True)]
            for heads, span in group_heads(needed, len(needed)):
                if span.start < span.stop:
                    some_q, so_far, log = (
                        slice_reversed(t[:, heads], block) for t in (reversed_q, out, logs)
                    )
                    some_k, some_v = (t[:, heads, piece.start :][..., span, :] for t in (k, v))
                    some_bias = numbers.expand(*q.shape[:2], -1, -1)[:, heads, :, span]
                    _join(so_far, log, *_attend_some(some_q, some_k, some_v, some_bias, scale))
    logs = logs.masked_fill(
        logs == -math.inf, 0.0
    )  # a query that sees no key: every weight exp(−∞ − 0) is 0
    return out.flip(-2), logs[..., 0].flip(-1)


def _hull(ranges: Iterable[KeyRange]) -> tuple[int, int]:
    """Give the keys from the first that some batch row needs to the last."""
    some = [(one.first, one.last) for one in ranges if one.first < one.last] or [(0, 0)]
    return min(first for first, _ in some), max(last for _, last in some)


def _attend_some(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    """Compute the output (B,H,Q,d) and ℓ (B,H,Q,1) over some keys; ℓ is −∞ where none is seen."""
    out, logs = getattr(torch.ops.aten, KERNEL)(q, k, v, attn_mask=bias, scale=scale)
    logs = logs[..., None]
    if bool((bias[..., 0] == -math.inf).any()):
        nothing = (
            bias.amax(-1, keepdim=True) == -math.inf
        )  # the kernel's answer for these is not to be relied on
        out, logs = out.masked_fill(nothing, 0.0), logs.masked_fill(nothing, -math.inf)
    return out, logs


def _join(out: Tensor, logs: Tensor, some: Tensor, its: Tensor) -> None:
    """Join parts of the keys: out = Σ exp(ℓ_part − ℓ)·out_part, ℓ = log Σ exp ℓ_part."""
    out.lerp_(some, torch.where(its == -math.inf, 0.0, torch.sigmoid(its - logs)))
    torch.logaddexp(logs, its, out=logs)
