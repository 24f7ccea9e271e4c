"""The gradients of attention with a bias from positions, a piece of the keys and a few query rows at a time.

    P = exp(scale·q·kᵀ + bias − ℓ),  dS = P∘(g·vᵀ − rowsum(g∘out))
    dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g,  and dS itself is the gradient of the bias

−ℓ and −rowsum ride along as one more column of the products. Several heads are done at once, so that each thread has
products of its own; keys whose weights vanish are left out (`reach`). What the products are added to lies in one piece.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from locant.paths.reach import least, lengths, of_piece, spans
from locant.paths.rows import HEADS, Rows, rows_of, together, wide
from locant.paths.tiles import Tiles

ROWS = 128  # queries at once


class Asked(NamedTuple):
    """What the forward pass leaves: all (B,H,·,d), the logarithms ℓ (B,H,Q); and the gradient of `out`."""

    q: Tensor
    k: Tensor
    v: Tensor
    out: Tensor
    logs: Tensor
    grad: Tensor


class Gradients(NamedTuple):
    """Of q, k and v, and of all that the bias has learnt."""

    q: Tensor
    k: Tensor
    v: Tensor
    learned: list[Tensor]


def gradients(asked: Asked, tiles: Tiles, *, causal: bool, scale: float, at_once: int, learns: bool) -> Gradients:
    """Everything at once; with `learns`, for what the bias has learnt too."""
    queries, keys, longest_k = asked.q.shape[-2], asked.k.shape[-2], lengths(asked.k, asked.v)
    groups = [_Group(asked, rows, scale) for rows in rows_of(queries, keys, causal, at_once)]
    reached = []  # of all keys, where that can be told without writing the bias down
    if not tiles.matrices:
        reached = [spans(tiles.at(group.rows), group.longest_q, longest_k, group.logs) for group in groups]
    dq, dk, dv = (torch.empty_like(t, memory_format=torch.contiguous_format) for t in asked[:3])
    learned = [torch.zeros_like(tensor) for tensor in tiles.learned] if learns else []
    room = _Room(asked.q, at_once, keys, at_once if learns and tiles.room else 0)
    for start in range(0, keys, room.width):
        piece = _Piece(asked, start, room)
        for number, group in enumerate(groups):
            rows = group.rows._replace(start=start, keys=min(start + room.width, group.rows.keys))
            if rows.keys <= start:
                continue
            with torch.set_grad_enabled(learns):
                made = tiles.at(rows).to(asked.q.dtype)
            bias = made.detach()
            if tiles.matrices:
                reach = of_piece(bias, group.longest_q, longest_k, start, *group.logs)
            else:
                reach = [[one.clipped(start, rows.keys) for one in some] for some in reached[number]]
            gathered = tiles.gradient(rows, made, learned) if learns else None
            for row, some in enumerate(reach):
                bias_ = bias[row % len(bias)].expand(len(some), -1, -1)
                for heads, span in together([(one.first, one.last) for one in some], HEADS):
                    if span.start < span.stop:
                        fades = any(one.fades(span.start, span.stop) for one in some[heads])
                        block = piece.add(row, heads, group, span, bias_[heads], fades)
                        if gathered is not None:
                            gathered.add(row, heads, start + span.start, block)
            if gathered is not None:
                gathered.finish()
        dk[..., start : start + room.width, :] = piece.dk.mT
        dv[..., start : start + room.width, :] = piece.dv.mT
    for group in groups:
        dq[..., group.rows.first : group.rows.last, :] = group.dq.flip(-2).mul_(scale)
    return Gradients(dq, dk, dv, learned)


class _Group:
    """A few queries in reverse order: what is read of them with every piece of the keys, and where dq is gathered."""

    def __init__(self, asked: Asked, rows: Rows, scale: float) -> None:
        q, out, logs, g = (t[:, :, rows.first : rows.last] for t in (asked.q, asked.out, asked.logs, asked.grad))
        self.rows, self.longest_q, self.logs = rows, q.norm(dim=-1).amax(-1) * abs(scale), logs.aminmax(dim=-1)
        self.q = torch.cat([q * scale, -logs[..., None]], -1).flip(-2)  # (B, H, rows, d + 1)
        self.g = torch.cat([g, -(g * out).sum(-1, keepdim=True)], -1).flip(-2)
        self.q_t, self.g_t = (tensor[..., :-1].mT.contiguous() for tensor in (self.q, self.g))  # (B, H, d, rows)
        self.dq = q.new_zeros(q.shape)


class _Room:
    """The memory in which a block is computed: up to HEADS heads, a few queries and a piece of the keys."""

    def __init__(self, q: Tensor, rows: int, keys: int, beyond: int) -> None:
        heads = min(HEADS, q.shape[1])
        self.width = min(keys, wide(q.shape[1]))  # of a piece
        self.beyond = beyond  # more columns in a block, all zero: then diagonals are rows of a view
        self.scores = q.new_empty(heads * rows * self.width)
        self.blocks = q.new_empty(heads * rows * (self.width + beyond))
        self.nothing = least(q.dtype)


class _Piece:
    """A piece of the keys, and where dk and dv are gathered, both transposed: (B, H, d, keys)."""

    def __init__(self, asked: Asked, start: int, room: _Room) -> None:
        self.plain_k, v = (tensor[..., start : start + room.width, :].contiguous() for tensor in (asked.k, asked.v))
        one = v.new_ones(()).expand(*v.shape[:-1], 1)
        self.k = torch.cat([self.plain_k, one], -1)
        self.v = pad(torch.cat([v, one], -1), (0, 0, 0, room.beyond))
        self.dk, self.dv = (torch.zeros_like(v.mT, memory_format=torch.contiguous_format) for _ in range(2))
        self.room = room

    def add(self, row: int, heads: slice, group: _Group, keys: slice, bias: Tensor, fades: bool) -> Tensor:
        """What some heads of a batch row give, for a few queries over some keys of the piece, is added where it belongs.

        Returns dS, (heads, rows, keys), and behind it the zeros that were asked for; it is soon written over.
        """
        mine, room = (group.q, group.g, group.q_t, group.g_t, group.dq), self.room
        q, g, q_t, g_t, dq = (tensor[row, heads] for tensor in mine)
        dk, dv = (tensor[row, heads, :, keys] for tensor in (self.dk, self.dv))
        many, count, some = q.shape[0], q.shape[1], keys.stop - keys.start
        weights = room.scores[: many * count * some].view(many, count, some)
        block = room.blocks[: many * count * (some + room.beyond)].view(many, count, -1)
        ds = block[..., :some]
        torch.bmm(q, self.k[row, heads, keys].mT, out=weights).add_(bias[..., keys])
        if fades:
            torch.threshold_(weights.clamp_min_(room.nothing - 1).exp_(), math.exp(room.nothing), 0.0)
        else:
            weights.exp_()
        torch.bmm(g, self.v[row, heads, keys.start : keys.stop + room.beyond].mT, out=block)
        block[..., some:] = 0
        ds.mul_(weights)
        _add(dv, g_t, weights)
        _add(dk, q_t, ds)
        _add(dq, ds, self.plain_k[row, heads, keys])
        return block


def _add(total: Tensor, left: Tensor, right: Tensor) -> None:
    """total += left·right; into memory with gaps torch would go head by head, slowly."""
    if total.is_contiguous():
        total.baddbmm_(left, right)
    else:
        total.add_(torch.bmm(left, right))
