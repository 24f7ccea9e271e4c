"""MPT and Bloom compute attention in their own code; here it goes through locant instead.

Both add ALiBi to scores that are materialized, (B,H,Q,K). Locant takes the same bias by blocks, so
that memory grows with the length and not with its square.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from locant.hf.swapping.swapped_attention import LAYER, SwappedLayer


def own_forward(module: nn.Module) -> Callable[..., Any] | None:
    """Return what replaces the forward of an attention module of MPT or Bloom; None for others."""
    known: dict[str, Callable[..., Any]] = {"MptAttention": _mpt, "BloomAttention": _bloom}
    return known.get(type(module).__name__)


def _mpt(
    module: Any,
    hidden_states: Tensor,
    position_bias: Tensor | None = None,
    past_key_values: Any = None,
    attention_mask: Tensor | None = None,
    **more: Any,
) -> tuple[Tensor, None]:
    qkv = module.Wqkv(hidden_states)  # (B, T, 3·D)
    if module.clip_qkv:
        qkv = qkv.clamp(min=-module.clip_qkv, max=module.clip_qkv)
    parts = qkv.unflatten(-1, (3, module.n_heads, module.head_dim))
    q, k, v = parts.permute(2, 0, 3, 1, 4)  # each (B, H, T, d)
    dropout = module.attn_dropout_p if module.training else 0.0
    mixed = _attend(
        module,
        hidden_states,
        q,
        k,
        v,
        past_key_values,
        attention_mask,
        module.softmax_scale,
        dropout,
    )
    return module.out_proj(mixed), None


def _bloom(
    module: Any,
    hidden_states: Tensor,
    residual: Tensor,
    alibi: Tensor | None = None,
    attention_mask: Tensor | None = None,
    layer_past: Any = None,
    **more: Any,
) -> tuple[Tensor, None]:
    q, k, v = module._reshape(module.query_key_value(hidden_states))  # each (B, H, T, d)
    dropout = module.attention_dropout.p if module.training else 0.0
    mixed = _attend(
        module,
        hidden_states,
        q,
        k,
        v,
        layer_past,
        attention_mask,
        module.inv_norm_factor,
        dropout,
    )
    out = nn.functional.dropout(module.dense(mixed), module.hidden_dropout, module.training)
    return residual + out, None


def _attend(
    module: Any,
    x: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cache: Any,
    mask: Tensor | None,
    scale: float,
    dropout: float,
) -> Tensor:
    """Attend causally through locant, with the model's cache: (B, T, D)."""
    layer: SwappedLayer = getattr(module, LAYER)
    pos = positions_by_order(q.shape[-2], cache, module.layer_idx, q.device)
    wrapped = layer.begin(x, pos, cache)
    if wrapped is not None:
        k, v = wrapped.update(k, v, module.layer_idx)
    holds_order = mask is not None and mask.shape[-2] == q.shape[-2] > 1
    out = layer.attend(q, k, v, mask=mask, causal=not holds_order, scale=scale, dropout=dropout)
    return out.transpose(1, 2).flatten(2)


def positions_by_order(
    queries: int, cache: Any, layer_idx: int | None, device: torch.device
) -> Tensor:
    """Count new tokens on from those that a layer's cache holds: (Q)."""
    past = 0
    if cache is not None:
        cache = getattr(cache, "self_attention_cache", cache)
        past = cache.get_seq_length(layer_idx or 0)
    return torch.arange(queries, device=device) + past
