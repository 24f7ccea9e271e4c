"""Attention with a bias by distance through torch's flex_attention; no (Q,K) matrix on a GPU.

    score(h, i, j) = scale·q_i·k_j + line[h, j − i + Q − 1]

`line` is that of `ToeplitzBias`, and its gradient comes from the kernel, which torch compiles when
it is first used. On a CPU it gives the same output, without gradients and slowly: to be tested
there.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from locant.attention.backends.tiled.block_bias import ToeplitzBias
from locant.attention.inputs import AttentionInputs
from locant.attention.request import Request

NAME = "flex"
BLOCK = 128  # queries, and keys, that are seen or left out together
MIN_WIDTH = 16  # of a head that the kernel takes
MIN_PAIRS = 512 * 512  # from which a bias by distance is better not materialized


def refuses(request: Request) -> str:
    if request.needs_scores:
        return "the encoding works on the scores or the weights themselves"
    if request.dropout != "none":
        return "this backend knows no dropout"
    if not request.eager:
        return "a graph is being traced, so positions cannot be read"
    if request.bias != "toeplitz":
        return "it needs a bias by distance at evenly spaced positions"
    if request.one_piece:
        return request.one_piece
    if request.mask != "none":
        return "this backend knows no mask"
    if request.causal and request.queries > request.keys:
        return "some queries come before every key"
    if not request.key_width == request.head_width == request.value_width:
        return "queries, keys and values must have one width"
    if request.device == "cpu" and request.grad:
        return "torch's flex_attention has no gradients on a CPU"
    return ""


def unsuited(request: Request) -> str:
    if request.device != "cuda":
        return "it is for CUDA devices"
    if request.dtype == torch.float64:
        return "torch's flex_attention knows no float64"
    if request.head_width < MIN_WIDTH or not math.log2(request.head_width).is_integer():
        return f"the width of a head must be a power of two, at least {MIN_WIDTH}"
    if request.queries * request.keys < MIN_PAIRS:
        return "so short a bias is better materialized"
    return ""


def describe(request: Request) -> str:
    return "its bias depends on distance, so that memory grows with length"


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    *,
    scale: float,
    drop: nn.Dropout | None,
) -> Tensor:
    bias = inputs.by_blocks(torch.promote_types(q.dtype, torch.float32)).bias
    assert isinstance(bias, ToeplitzBias)  # or it would have been refused
    line, ahead = bias.line[0], bias.queries - 1
    line = line.expand(q.shape[1], -1)  # one for all heads, or one for each

    def biased(score: Tensor, row: Tensor, head: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + line[head, j - i + ahead]

    blocks = causal_blocks(q.shape[-2], k.shape[-2], q.device) if inputs.causal else None
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
