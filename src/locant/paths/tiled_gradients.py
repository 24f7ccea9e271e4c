"""The gradients of attention with a bias from positions, a few query rows and about a thousand keys at a time.

    P = exp(scale·q·kᵀ + bias − ℓ),  dS = P∘(g·vᵀ − rowsum(g∘out))
    dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g,  and dS itself is the gradient of the bias

−ℓ and −rowsum ride along as one more column of the products. Several heads are done at once, so that each thread has
products of its own; keys whose weights vanish are left out (`reach`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from locant.paths.reach import Span, least, lengths, of_piece, spans
from locant.paths.rows import Rows, pieces_of, rows_of, together, turned_rows
from locant.paths.tiles import Gradient, Tiles

ROWS = 128  # queries at once
KEYS, MOST_KEYS = 1024, 4096  # keys at once, with many heads and with few
TOGETHER = 1 << 20  # scores at once


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
    work = _Work(asked, scale, at_once, at_once if learns and tiles.room else 0)
    learned = [torch.zeros_like(tensor) for tensor in tiles.learned] if learns else []
    norms, longest_k = asked.q.norm(dim=-1) * abs(scale), lengths(asked.k)
    for rows in rows_of(asked.q.shape[-2], asked.k.shape[-2], causal, at_once):
        these = slice(rows.first, rows.last)
        logs, longest_q = asked.logs[..., these].aminmax(dim=-1), norms[..., these].amax(-1)
        for piece in pieces_of(rows) if tiles.matrices else [rows]:
            with torch.set_grad_enabled(learns):
                made = tiles.at(piece).to(asked.q.dtype)
            bias = made.detach()
            if piece == rows:
                reached = spans(bias, longest_q, longest_k, logs)
            else:
                reached = of_piece(bias, longest_q, longest_k, piece.start, *logs)
            gathered = tiles.gradient(piece, made) if learns else None
            for row, some in enumerate(reached):
                bias_ = bias[row % len(bias)].expand(len(some), -1, -1)
                for heads, span in together([(one.first, one.last) for one in some], work.most_heads):
                    work.add(row, heads, piece, span, bias_[heads], some[heads], gathered)
            for total, part in zip(learned, gathered.learned() if gathered else (), strict=True):
                total += part
    return Gradients(work.dq.flip(-2).mul_(scale), work.dk.mT.contiguous(), work.dv.mT.contiguous(), learned)


class _Work:
    """What all blocks read, what they add to, and the memory in which a block is computed."""

    def __init__(self, asked: Asked, scale: float, at_once: int, beyond: int) -> None:
        q, k, v, out, logs, g = asked
        heads, keys, self.width = k.shape[1], k.shape[2], k.shape[3]
        self.beyond = beyond  # more columns in a block, all zero: then diagonals are rows of a view
        one = k.new_ones(()).expand(*k.shape[:-1], 1)
        self.q = torch.cat([q * scale, -logs[..., None]], -1).flip(-2)  # (B, H, Q, d + 1)
        self.g = torch.cat([g, -(g * out).sum(-1, keepdim=True)], -1).flip(-2)
        self.k = torch.cat([k, one], -1)
        self.v = pad(torch.cat([v, one], -1), (0, 0, 0, self.beyond))
        self.dq = torch.zeros_like(q, memory_format=torch.contiguous_format)
        self.dk, self.dv = (torch.zeros_like(t.mT, memory_format=torch.contiguous_format) for t in (k, v))
        self.nothing = least(q.dtype)
        self.most_heads = min(heads, max(1, TOGETHER // (at_once * min(KEYS, keys))))
        wide = min(keys, MOST_KEYS)
        most = min(self.most_heads * at_once * wide, max(TOGETHER, self.most_heads * at_once * KEYS))
        self.scores = q.new_empty(most)
        self.blocks = q.new_empty(most + self.most_heads * at_once * self.beyond)

    def add(
        self,
        row: int,
        heads: slice,
        rows: Rows,
        keys: slice,
        bias: Tensor,
        reached: list[Span],
        gathered: Gradient | None,
    ) -> None:
        """What some heads of a batch row give, for a few queries over the keys that they need, counted from the first."""
        q, g = (turned_rows(tensor[row, heads], rows) for tensor in (self.q, self.g))  # (G, rows, d + 1)
        k, v = (tensor[row, heads, rows.start :] for tensor in (self.k, self.v))
        dk, dv = (tensor[row, heads, :, rows.start :] for tensor in (self.dk, self.dv))
        dq = q.new_zeros(*q.shape[:2], self.width)
        q_t, g_t = (tensor[..., : self.width].mT.contiguous() for tensor in (q, g))  # (G, d, rows)
        count, many = q.shape[1], q.shape[0]
        at_once = max(KEYS, min(MOST_KEYS, TOGETHER // (many * count)))
        for first in range(keys.start, keys.stop, at_once):
            last = min(first + at_once, keys.stop)
            wide = last - first
            weights = self.scores[: many * count * wide].view(many, count, wide)
            block = self.blocks[: many * count * (wide + self.beyond)].view(many, count, -1)
            ds = block[..., :wide]
            torch.bmm(q, k[:, first:last].mT, out=weights).add_(bias[..., first:last])
            if any(one.fades(first, last) for one in reached):
                torch.threshold_(weights.clamp_min_(self.nothing - 1).exp_(), math.exp(self.nothing), 0.0)
            else:
                weights.exp_()
            torch.bmm(g, v[:, first : last + self.beyond].mT, out=block)
            ds.mul_(weights)
            dv[..., first:last].add_(torch.bmm(g_t, weights))
            dk[..., first:last].add_(torch.bmm(q_t, ds))
            dq.baddbmm_(ds, k[:, first:last, : self.width])
            if gathered is not None:
                block[..., wide:] = 0
                gathered.add(row, heads, rows.start + first, block)
        turned_rows(self.dq[row, heads], rows).add_(dq)
