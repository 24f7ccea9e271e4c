"""Attention with a bias by distance through torch's flex_attention; no (Q,K) matrix on a GPU.

    score(h, i, j) = scale·q_i·k_j + line[h, j − i + Q − 1]

`line` is that of `ToeplitzBias`, and its gradient comes from the kernel, which torch compiles when
it is first used. On a CPU it gives the same output, without gradients and slowly: to be tested
there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from locant.attention.backends.tiled.block_bias import ByBlocks
from locant.attention.backends.tiled.toeplitz_bias import ToeplitzBias

BLOCK = 128  # queries, and keys, that are seen or left out together


def run(
    q: Tensor, k: Tensor, v: Tensor, bias: ByBlocks, *, scale: float, drop: nn.Dropout | None
) -> Tensor:
    by_distance, causal = bias
    assert isinstance(by_distance, ToeplitzBias)  # or it would have been refused
    line, ahead = by_distance.line[0], by_distance.queries - 1
    line = line.expand(q.shape[1], -1)  # one for all heads, or one for each

    def biased(score: Tensor, row: Tensor, head: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + line[head, j - i + ahead]

    blocks = causal_blocks(q.shape[-2], k.shape[-2], q.device) if causal else None
    return _kernel(q.device.type)(q, k, v, score_mod=biased, block_mask=blocks, scale=scale)


def causal_blocks(queries: int, keys: int, device: torch.device) -> Any:
    """List the key blocks that each query block can see when query i sees keys up to i + K − Q."""
    from torch.nn.attention.flex_attention import BlockMask

    def seen(row: Tensor, head: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return j <= i + keys - queries

    last = (
        (torch.arange(0, queries, BLOCK, device=device) + BLOCK).clamp(max=queries) + keys - queries
    )  # keys, of each
    count = (last + BLOCK - 1) // BLOCK
    which = torch.arange(-(-keys // BLOCK), device=device).expand(len(count), -1)
    counts, blocks = (tensor.to(torch.int32)[None, None].contiguous() for tensor in (count, which))
    return BlockMask.from_kv_blocks(
        counts, blocks, BLOCK_SIZE=BLOCK, mask_mod=seen, seq_lengths=(queries, keys)
    )


@cache
def _kernel(device: str) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention if device == "cpu" else torch.compile(flex_attention)
