"""Attention with a bias by distance through torch's flex_attention: on a GPU nothing of the size (Q,K) is written down.

    score(h, i, j) = scale·q_i·k_j + line[h, j − i + Q − 1]

`line` is that of `tiles.ByDistance`, and its gradient comes from the kernel, which torch compiles when it is first used.
On a CPU it gives the same output, without gradients and slowly: to be tested there.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor

from locant.paths.tiles import ByDistance

BLOCK = 128  # queries, and keys, that are seen or left out together
NARROWEST = 16  # the least width of a head that the kernel takes


def serves(like: Tensor) -> bool:
    """Whether torch has the kernel for such queries (…, d)."""
    width = like.shape[-1]
    fits = width >= NARROWEST and math.log2(width).is_integer()
    return like.device.type == "cuda" and like.dtype in (torch.float32, torch.float16, torch.bfloat16) and fits


def flexed(q: Tensor, k: Tensor, v: Tensor, tiles: ByDistance, *, causal: bool, scale: float) -> Tensor:
    """q (B,H,Q,d), k and v (B,H,K,d): (B,H,Q,d). With `causal`, Q ≤ K and the last query is aligned with the last key."""
    line, ahead = tiles.line[0], tiles.queries - 1
    line = line.expand(q.shape[1], -1)  # one for all heads, or one for each

    def biased(score: Tensor, row: Tensor, head: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + line[head, j - i + ahead]

    blocks = causal_blocks(q.shape[-2], k.shape[-2], q.device) if causal else None
    return _kernel(q.device.type)(q, k, v, score_mod=biased, block_mask=blocks, scale=scale)


def causal_blocks(queries: int, keys: int, device: torch.device) -> Any:
    """Which blocks of keys each block of queries can see, when query i sees keys up to i + K − Q."""
    from torch.nn.attention.flex_attention import BlockMask

    def seen(row: Tensor, head: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return j <= i + keys - queries

    last = (torch.arange(0, queries, BLOCK, device=device) + BLOCK).clamp(max=queries) + keys - queries  # keys, of each
    count = (last + BLOCK - 1) // BLOCK
    which = torch.arange(-(-keys // BLOCK), device=device).expand(len(count), -1)
    counts, blocks = (tensor.to(torch.int32)[None, None].contiguous() for tensor in (count, which))
    return BlockMask.from_kv_blocks(counts, blocks, BLOCK_SIZE=BLOCK, mask_mod=seen, seq_lengths=(queries, keys))


@cache
def _kernel(device: str) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention if device == "cpu" else torch.compile(flex_attention)
