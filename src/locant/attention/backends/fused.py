"""Attention by torch's scaled_dot_product_attention, with the bias or mask materialized."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention

from locant.attention.masks import Materialized


def run(
    q: Tensor, k: Tensor, v: Tensor, bias: Materialized, *, scale: float, drop: nn.Dropout | None
) -> Tensor:
    attn_bias, unseeing, causal = bias
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
