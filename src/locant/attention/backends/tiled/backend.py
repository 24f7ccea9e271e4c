"""When bias and mask are taken by blocks of queries, and how."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant.attention.backends.tiled.forward import available, tiled_attention
from locant.attention.inputs import AttentionInputs
from locant.attention.request import Request

NAME = "tiled"
MIN_PAIRS = 512 * 512  # queries × keys, from which a bias by distance is not materialized
MIN_PAIRS_MATERIALIZED = (
    1024 * 1024
)  # and any other bias or mask, of which a block is materialized at a time


def refuses(request: Request) -> str:
    if request.needs_scores:
        return "the encoding works on the scores or the weights themselves"
    if request.dropout != "none":
        return "this backend knows no dropout"
    if request.device != "cpu":
        return "it is for CPUs"
    if not request.eager or request.transformed:
        return "a graph is traced or transformed, so positions cannot be read"
    if not available():
        return "this torch lacks the kernel that it builds on"
    if 0 in (request.batch, request.queries, request.keys):
        return "there are no queries or keys"
    if request.bias == "none" and not request.added:
        return "there is no bias and no mask to take by blocks"
    if request.one_piece:
        return request.one_piece
    if request.causal and request.queries > request.keys:
        return "some queries come before every key"
    if not request.key_width == request.head_width == request.value_width:
        return "queries, keys and values must have one width"
    return ""


def unsuited(request: Request) -> str:
    pairs = request.queries * request.keys
    if request.bias == "materialized":
        return "so short a bias is better materialized"
    least = (
        MIN_PAIRS
        if request.bias == "toeplitz" and request.mask == "none"
        else MIN_PAIRS_MATERIALIZED
    )
    return "so short a bias or mask is better materialized" if pairs < least else ""


def describe(request: Request) -> str:
    what = {
        "toeplitz": "its bias depends on distance and is shown to the kernel as one line",
        "computed": "its bias is computed a block of queries at a time",
        "none": "its mask is taken a block of queries at a time",
    }[request.bias]
    if request.bias != "none" and request.mask != "none":
        what = "bias and mask are taken a block of queries at a time"
    return f"{what}, so that memory grows with length"


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    *,
    scale: float,
    drop: nn.Dropout | None,
) -> Tensor:
    precise = torch.promote_types(q.dtype, torch.float32)  # half precision is computed in float32
    bias, unseeing = inputs.by_blocks(precise)
    wide_q, wide_k, wide_v = q.to(precise), k.to(precise), v.to(precise)
    out = tiled_attention(wide_q, wide_k, wide_v, bias, causal=inputs.causal, scale=scale).to(
        q.dtype
    )
    return out if unseeing is None else out.masked_fill(unseeing, 0.0)
