"""Gradients of attention with a bias from positions, one key piece and one query block at a time.

    P = exp(scale·q·kᵀ + bias − ℓ),  dS = P∘(g·vᵀ − rowsum(g∘out))
    dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g,  and dS itself is the gradient of the bias

−ℓ and −rowsum ride along as one more column of the products. Several heads are computed at once, so
that each thread has products of its own; keys whose weights vanish are pruned. The sums are
gathered in contiguous memory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from locant.attention.backends.tiled.block_bias import BlockBias
from locant.attention.backends.tiled.blocking import (
    HEADS_AT_ONCE,
    QueryBlock,
    group_heads,
    piece_width,
    query_blocks,
)
from locant.attention.backends.tiled.pruning import (
    key_ranges,
    longest_keys,
    ranges_in_piece,
    vanishing_exponent,
)

QUERIES_AT_ONCE = 128


class SavedForward(NamedTuple):
    """Tensors saved by the forward pass, (B,H,·,d); ℓ (B,H,Q); and the gradient of `out`."""

    q: Tensor
    k: Tensor
    v: Tensor
    out: Tensor
    logs: Tensor
    grad: Tensor


class Gradients(NamedTuple):
    """The gradients of q, k and v, and of the tensors that the bias has learned."""

    q: Tensor
    k: Tensor
    v: Tensor
    learned: list[Tensor]


def gradients(
    saved: SavedForward, bias: BlockBias, *, causal: bool, scale: float, at_once: int, learns: bool
) -> Gradients:
    """Compute all gradients; with `learns`, those of the bias too."""
    queries, keys = saved.q.shape[-2], saved.k.shape[-2]
    longest_k = longest_keys(saved.k, saved.v)
    groups = [
        _QueryGroup(saved, block, scale) for block in query_blocks(queries, keys, causal, at_once)
    ]
    needed = []  # of all keys, where that is known without materializing a block
    if not bias.matrices:
        needed = [key_ranges(bias.block(g.block), g.longest_q, longest_k, g.logs) for g in groups]
    dq, dk, dv = (torch.empty_like(t, memory_format=torch.contiguous_format) for t in saved[:3])
    learned = [torch.zeros_like(tensor) for tensor in bias.learned] if learns else []
    space = _Workspace(saved.q, at_once, keys, at_once if learns and bias.zero_columns else 0)
    for start in range(0, keys, space.width):
        piece = _KeyPiece(saved, start, space)
        for number, group in enumerate(groups):
            block = group.block._replace(
                start=start, keys=min(start + space.width, group.block.keys)
            )
            if block.keys <= start:
                continue
            with torch.set_grad_enabled(learns):
                made = bias.block(block).to(saved.q.dtype)
            numbers = made.detach()
            if bias.matrices:
                ranges = ranges_in_piece(numbers, group.longest_q, longest_k, start, *group.logs)
            else:
                ranges = [
                    [one.clipped(start, block.keys) for one in some] for some in needed[number]
                ]
            gathered = bias.gradient(block, made, learned) if learns else None
            for row, some in enumerate(ranges):
                of_row = numbers[row % len(numbers)].expand(len(some), -1, -1)
                for heads, span in group_heads(
                    [(one.first, one.last) for one in some], HEADS_AT_ONCE
                ):
                    if span.start < span.stop:
                        fades = any(one.fades(span.start, span.stop) for one in some[heads])
                        part = piece.add(row, heads, group, span, of_row[heads], fades)
                        if gathered is not None:
                            gathered.add(row, heads, start + span.start, part)
            if gathered is not None:
                gathered.finish()
        dk[..., start : start + space.width, :] = piece.dk.mT
        dv[..., start : start + space.width, :] = piece.dv.mT
    for group in groups:
        dq[..., group.block.first : group.block.last, :] = group.dq.flip(-2).mul_(scale)
    return Gradients(dq, dk, dv, learned)


class _QueryGroup:
    """A query block in reverse order: what every key piece reads, and where dq is gathered."""

    def __init__(self, saved: SavedForward, block: QueryBlock, scale: float) -> None:
        tensors = (saved.q, saved.out, saved.logs, saved.grad)
        q, out, logs, g = (t[:, :, block.first : block.last] for t in tensors)
        self.block = block
        self.longest_q = q.norm(dim=-1).amax(-1) * abs(scale)
        self.logs = logs.aminmax(dim=-1)
        self.q = torch.cat([q * scale, -logs[..., None]], -1).flip(-2)  # (B, H, queries, d + 1)
        self.g = torch.cat([g, -(g * out).sum(-1, keepdim=True)], -1).flip(-2)
        self.q_t = self.q[..., :-1].mT.contiguous()  # (B, H, d, queries)
        self.g_t = self.g[..., :-1].mT.contiguous()
        self.dq = q.new_zeros(q.shape)


class _Workspace:
    """Memory for one part: up to HEADS_AT_ONCE heads, a query block and a key piece."""

    def __init__(self, q: Tensor, queries: int, keys: int, zero_columns: int) -> None:
        heads = min(HEADS_AT_ONCE, q.shape[1])
        self.width = min(keys, piece_width(q.shape[1]))
        self.zero_columns = zero_columns  # behind each part: then diagonals are rows of a view
        self.scores = q.new_empty(heads * queries * self.width)
        self.parts = q.new_empty(heads * queries * (self.width + zero_columns))
        self.vanishing = vanishing_exponent(q.dtype)


class _KeyPiece:
    """A piece of the keys, and where dk and dv are gathered, both transposed: (B, H, d, keys)."""

    def __init__(self, saved: SavedForward, start: int, space: _Workspace) -> None:
        keys = slice(start, start + space.width)
        self.plain_k = saved.k[..., keys, :].contiguous()
        v = saved.v[..., keys, :].contiguous()
        one = v.new_ones(()).expand(*v.shape[:-1], 1)
        self.k = torch.cat([self.plain_k, one], -1)
        self.v = pad(torch.cat([v, one], -1), (0, 0, 0, space.zero_columns))
        self.dk, self.dv = (
            torch.zeros_like(v.mT, memory_format=torch.contiguous_format) for _ in range(2)
        )
        self.space = space

    def add(
        self, row: int, heads: slice, group: _QueryGroup, keys: slice, bias: Tensor, fades: bool
    ) -> Tensor:
        """Add the gradients of some heads of a batch row, for a query block over some keys.

        Returns dS, (heads, queries, keys), followed by the zero columns; its memory is soon written
        again.
        """
        space = self.space
        q, g, q_t, g_t, dq = (
            t[row, heads] for t in (group.q, group.g, group.q_t, group.g_t, group.dq)
        )
        dk, dv = (t[row, heads, :, keys] for t in (self.dk, self.dv))
        many, count, some = q.shape[0], q.shape[1], keys.stop - keys.start
        weights = space.scores[: many * count * some].view(many, count, some)
        part = space.parts[: many * count * (some + space.zero_columns)].view(many, count, -1)
        ds = part[..., :some]
        torch.bmm(q, self.k[row, heads, keys].mT, out=weights).add_(bias[..., keys])
        if fades:
            weights.clamp_min_(space.vanishing - 1).exp_()
            torch.threshold_(weights, math.exp(space.vanishing), 0.0)
        else:
            weights.exp_()
        torch.bmm(g, self.v[row, heads, keys.start : keys.stop + space.zero_columns].mT, out=part)
        part[..., some:] = 0
        ds.mul_(weights)
        _add_product(dv, g_t, weights)
        _add_product(dk, q_t, ds)
        _add_product(dq, ds, self.plain_k[row, heads, keys])
        return part


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """Add left·right to `total`; into memory with gaps torch would go head by head, slowly."""
    if total.is_contiguous():
        total.baddbmm_(left, right)
    else:
        total.add_(torch.bmm(left, right))
