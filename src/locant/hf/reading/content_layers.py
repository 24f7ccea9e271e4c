"""Reading what meets content and distance in the scores: DeBERTa's terms and Inkling's bias."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from locant.encodings.base import Encoding
from locant.encodings.deberta import Deberta
from locant.encodings.inkling import Inkling
from locant.shapes import Shape


def deberta_attentions(model: nn.Module) -> list[Any]:
    """Find the attention of every layer of a DeBERTa, the first layer first."""
    return [part for part in model.modules() if type(part).__name__ == "DisentangledSelfAttention"]


def read_deberta(model: Any) -> list[Encoding]:
    """Read the terms of every layer of a DeBERTa.

    All layers share the embeddings of distances, but each has projections of its own: K and Q are
    what comes out of them.
    """
    (encoder,) = [part for part in model.modules() if hasattr(part, "get_rel_embedding")]
    with torch.no_grad():
        rows = encoder.get_rel_embedding()  # (2·buckets, D), through a norm where there is one
        return [_deberta(attention, rows) for attention in deberta_attentions(model)]


def _deberta(attention: Any, rows: Tensor) -> Deberta:
    if hasattr(attention, "pos_proj"):  # the first DeBERTa
        to_keys, to_queries = attention.pos_proj, attention.pos_q_proj
    elif attention.share_att_key:
        to_keys, to_queries = attention.key_proj, attention.query_proj
    else:
        to_keys, to_queries = attention.pos_key_proj, attention.pos_query_proj
    heads, farthest = attention.num_attention_heads, attention.max_relative_positions
    buckets = getattr(attention, "position_buckets", -1)
    encoding = Deberta(
        Shape(attention.all_head_size, heads, farthest),
        buckets=buckets if buckets > 0 else farthest,
        max_distance=farthest if buckets > 0 else None,
    )
    if not rows.is_meta:
        rows = rows[: 2 * encoding.buckets]
        encoding.to_keys.data = to_keys(rows).unflatten(-1, (heads, -1)).clone()
        encoding.to_queries.data = to_queries(rows).unflatten(-1, (heads, -1)).clone()
    return encoding


def inkling_attentions(model: nn.Module) -> list[Any]:
    """Find the attention of every layer of an Inkling, the first layer first."""
    return [part for part in model.modules() if hasattr(part, "rel_logits_proj")]


def read_inkling(model: Any) -> list[Encoding]:
    """Read the bias of every layer of an Inkling; its local layers see no farther than a window."""
    return [_inkling(attention) for attention in inkling_attentions(model)]


def _inkling(attention: Any) -> Inkling:
    weight, profiles = attention.r_proj.weight, attention.rel_logits_proj.proj
    heads, dim = attention.num_heads, weight.shape[1]
    if dim % heads:
        raise ValueError(
            f"inkling_text with hidden_size={dim} and {heads} heads has no whole width of a head, "
            "which an encoding of locant needs."
        )
    basis, extent = profiles.shape
    encoding = Inkling(Shape(dim, heads), basis=basis, extent=extent)
    if not weight.is_meta:
        encoding.weight.data = weight.detach().unflatten(0, (heads, basis)).clone()
        encoding.profiles.data = profiles.detach().clone()
    return encoding
