"""Attention by torch's scaled_dot_product_attention, with the bias or mask materialized."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention

from locant.attention.inputs import AttentionInputs
from locant.attention.request import Request

NAME = "fused"
FEW_QUERIES = 16  # for which nothing as large as the keys should be copied


def refuses(request: Request) -> str:
    if request.needs_scores:
        return "the encoding works on the scores or the weights themselves"
    return ""


def unsuited(request: Request) -> str:
    if request.dropout == "module":
        return "torch's kernels know only torch's own dropout"
    if request.device != "cpu":
        return ""
    if request.dropout != "none":
        return "torch's kernel for a CPU knows no dropout"
    if request.transformed:
        return "torch's kernel for a CPU knows no transform such as vmap"
    if request.key_width > request.head_width and request.eager and request.queries <= FEW_QUERIES:
        return "it would copy every value to make it as wide as the keys, for a query or a few"
    return ""


def describe(request: Request) -> str:
    if not request.added:
        return "plain attention"
    return "plain attention and a materialized bias or mask"


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    *,
    scale: float,
    drop: nn.Dropout | None,
) -> Tensor:
    attn_bias, unseeing, causal = inputs.materialized(q.dtype)
    missing = q.shape[-1] - v.shape[-1]  # an encoding may widen q and k; the kernel wants one width
    out = scaled_dot_product_attention(
        q,
        k,
        pad(v, (0, missing)) if missing > 0 else v,
        attn_mask=None if attn_bias is None else attn_bias.to(q.dtype),
        is_causal=causal,
        scale=scale,
        dropout_p=0.0 if drop is None else drop.p,
    )
    out = out[..., : v.shape[-1]]
    return out if unseeing is None else out.masked_fill(unseeing, 0.0)
