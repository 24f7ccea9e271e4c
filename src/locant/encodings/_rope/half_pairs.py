"""Half pairs turned a few heads and tokens at a time, in blocks that stay in the cache: one new
tensor instead of three.

    out_c = x_c·cos φ_c − x_c+d/2·sin φ_c,    out_c+d/2 = x_c+d/2·cos φ_c + x_c·sin φ_c

The turn back, by −φ, is the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import torch
from torch import Tensor

from locant.positions import visible

MIN_ELEMENTS = 1 << 19  # numbers; with fewer, what Python costs is more than what the cache saves
BLOCK_ELEMENTS = (
    1 << 16
    # numbers at once for each thread, so that they and what becomes of them fit the second-level
    # cache
)
TABLE_ELEMENTS = 1 << 15  # numbers of a table at once, so that it fits there too


def serves(x: Tensor, table: Tensor) -> bool:
    """Whether x can be turned in blocks: many numbers in the memory of a CPU, and a table that
    nothing is learned from."""
    if not (visible(x) and visible(table)):  # a traced graph must not depend on the size
        return False
    many = x.device.type == "cpu" and x.dtype == table.dtype and x.numel() >= MIN_ELEMENTS
    return many and _cuts_alike(x, table) and not table.requires_grad and _level() < 0


def _cuts_alike(x: Tensor, table: Tensor) -> bool:
    """Whether a table (2,…,T,d) is one for all of x (…,T,d), or has a part for each row of it."""
    leading = table.shape[1:-2]
    each_row = len(leading) == x.dim() - 2 and leading[0] == x.shape[0]
    return each_row or all(size == 1 for size in leading)


def _level() -> int:
    """How many forward derivatives are being taken, less one; they go through the plain formula."""
    return getattr(torch.autograd.forward_ad, "_current_level", 0)


def turn_blocks(x: Tensor, table: Tensor) -> Tensor:
    """x (…,T,d) turned by a table (2,…,T,d) of [cos, cos] and [−sin, sin]: (…,T,d)."""
    return _Turn.apply(x, table[0], *table[1].chunk(2, -1))


class _Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cosine: Tensor, minus: Tensor, sine: Tensor) -> Tensor:
        ctx.save_for_backward(cosine, minus, sine)
        return _turned(x, cosine, minus, sine)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        cosine, minus, sine = ctx.saved_tensors
        if visible(grads[0]):
            return _Turn.apply(grads[0], cosine, sine, minus), None, None, None
        across = torch.cat([sine, minus], -1)  # many gradients at once, under vmap
        return grads[0] * cosine + grads[0].roll(sine.shape[-1], -1) * across, None, None, None


def _turned(x: Tensor, cosine: Tensor, minus: Tensor, sine: Tensor) -> Tensor:
    """x·[cos, cos] + [x_2, x_1]·[minus, sine], where minus is −sin φ; the other way round it turns
    back."""
    out = torch.empty_like(x)
    parts = [x, *x.chunk(2, -1), out, *out.chunk(2, -1)]
    for some, some_1, some_2, to, to_1, to_2, by, across_1, across_2 in _blocks(
        parts, [cosine, minus, sine]
    ):
        torch.mul(some, by, out=to)
        to_1.addcmul_(some_2, across_1)
        to_2.addcmul_(some_1, across_2)
    return out


def _blocks(parts: list[Tensor], tables: list[Tensor]) -> Iterator[tuple[Tensor, ...]]:
    """Parts (…,T,·) and tables for them, both cut into pieces that fit the cache."""
    shared = all(size == 1 for size in tables[0].shape[:-2])
    if shared:
        tables = [table.flatten(0, -2) for table in tables]  # (T, ·)
        parts = [part.flatten(0, -3) for part in parts] if parts[0].is_contiguous() else parts
    x, most = parts[0], BLOCK_ELEMENTS * torch.get_num_threads()
    row = x.numel() // x.shape[0] // x.shape[-2]  # numbers of one token in one row
    tokens = max(1, min(x.shape[-2], TABLE_ELEMENTS // x.shape[-1], most // row))
    rows = max(1, most // (row * tokens))
    for line in zip(*(part.split(tokens, -2) for part in (*parts, *tables)), strict=True):
        some, by = line[: len(parts)], line[len(parts) :]
        turns = [repeat(table) if shared else table.split(rows) for table in by]
        yield from zip(*(part.split(rows) for part in some), *turns, strict=False)
