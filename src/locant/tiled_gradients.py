"""The gradients of attention with a bias from positions, a few query rows and a few thousand keys at a time.

    P = exp(scale·q·kᵀ + bias − ℓ),  dS = P∘(g·vᵀ − rowsum(g∘out))
    dq = scale·dS·k,  dk = scale·dSᵀ·q,  dv = Pᵀ·g,  and dS itself is the gradient of the bias

−ℓ and −rowsum ride along as one more column of the products. Several heads are done at once, so that each thread has
products of its own; keys whose weights vanish are left out (`reach`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from locant.reach import Span, least, lengths, spans
from locant.tiles import Gradient, Rows, Tiles

ROWS = 128  # queries at once
KEYS, MOST_KEYS = 1024, 4096  # keys at once, with many heads and with few
TOGETHER = 1 << 20  # scores at once
WORTH = 0.75  # of the keys; heads that need less than that of what they would share are done apart


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


def rows_of(queries: int, keys: int, causal: bool, at_once: int) -> Iterator[Rows]:
    """All queries, a few at a time, with the keys that they may see."""
    for first in range(0, queries, at_once):
        last = min(queries, first + at_once)
        yield Rows(first, last, last + keys - queries if causal else keys)


def turned_rows(turned: Tensor, rows: Rows) -> Tensor:
    """These rows of a tensor (…, Q, ·) whose queries are in reverse order."""
    queries = turned.shape[-2]
    return turned[..., queries - rows.last : queries - rows.first, :]


def together(needed: list[tuple[int, int]], most: int) -> list[tuple[slice, slice]]:
    """Neighbouring heads that are done at once, and the keys that they need: apart where that saves enough.

    >>> together([(0, 8), (0, 8), (7, 8), (6, 8)], most=8)
    [(slice(0, 2, None), slice(0, 8, None)), (slice(2, 4, None), slice(6, 8, None))]
    """
    groups: list[tuple[int, int, int]] = []  # how many heads, from which key, to which
    alone = 0  # keys that the heads of the last group need, each for itself
    for first, last in needed:
        if groups and groups[-1][0] < most:
            count, low, high = groups[-1]
            low, high = min(low, first), max(high, last)
            if alone + last - first >= WORTH * (count + 1) * (high - low):
                groups[-1], alone = (count + 1, low, high), alone + last - first
                continue
        groups.append((1, first, last))
        alone = last - first
    ends = torch.tensor([count for count, _, _ in groups]).cumsum(0).tolist()
    return [(slice(end - count, end), slice(*keys)) for end, (count, *keys) in zip(ends, groups, strict=True)]


def gradients(asked: Asked, tiles: Tiles, *, causal: bool, scale: float, at_once: int, learns: bool) -> Gradients:
    """Everything at once; with `learns`, for what the bias has learnt too."""
    work = _Work(asked, scale, at_once, learns)
    learned = [torch.zeros_like(tensor) for tensor in tiles.learned] if learns else []
    norms, longest_k = asked.q.norm(dim=-1) * abs(scale), lengths(asked.k)
    for rows in rows_of(asked.q.shape[-2], asked.k.shape[-2], causal, at_once):
        with torch.set_grad_enabled(learns):
            made = tiles.at(rows).to(asked.q.dtype)
        bias, these = made.detach(), slice(rows.first, rows.last)
        logs = asked.logs[..., these].aminmax(dim=-1)
        reached = spans(bias, norms[..., these].amax(-1), longest_k, logs)
        gathered = tiles.gradient(rows, made) if learns else None
        for row, some in enumerate(reached):
            bias_ = bias[row % len(bias)].expand(len(some), -1, -1)
            for heads, keys in together([(one.first, one.last) for one in some], work.most_heads):
                work.add(row, heads, rows, keys, bias_[heads], some[heads], gathered)
        for total, part in zip(learned, gathered.learned() if gathered else (), strict=True):
            total += part
    return Gradients(work.dq.flip(-2).mul_(scale), work.dk.mT.contiguous(), work.dv.mT.contiguous(), learned)


class _Work:
    """What all blocks read, what they add to, and the memory in which a block is computed."""

    def __init__(self, asked: Asked, scale: float, at_once: int, learns: bool) -> None:
        q, k, v, out, logs, g = asked
        heads, keys, self.width = k.shape[1], k.shape[2], k.shape[3]
        self.beyond = at_once if learns else 0  # more columns in a block, all zero: then diagonals are rows of a view
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
        """What some heads of a batch row give, for a few queries over the keys that they need."""
        q, g = (turned_rows(tensor[row, heads], rows) for tensor in (self.q, self.g))  # (G, rows, d + 1)
        k, v, dk, dv = (tensor[row, heads] for tensor in (self.k, self.v, self.dk, self.dv))
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
            dv[..., first:last].baddbmm_(g_t, weights)
            dk[..., first:last].baddbmm_(q_t, ds)
            dq.baddbmm_(ds, k[:, first:last, : self.width])
            if gathered is not None:
                block[..., wide:] = 0
                gathered.add(row, heads, first, block)
        turned_rows(self.dq[row, heads], rows).copy_(dq)
