"""Attention, a layer and a transformer, dense and in float64, around the formulas of the
encodings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from formulas import Attended, Formula, Tables, bias, embed, turn, under
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear


def attention(
    formula: Formula,
    tables: Tables,
    qkv: tuple[Tensor, Tensor, Tensor],
    q_pos: Tensor,
    k_pos: Tensor,
    *,
    causal: bool,
    mask: Tensor | None,
    scale: float | None = None,
) -> Attended:
    """Compute attention from queries (B,H,Q,d) to keys and values (B,G,K,·), all of it dense."""
    q, k, v = qkv
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    used = max(q_pos.max().item(), k_pos.max().item()) + 1
    group = torch.arange(q.shape[1]) // (q.shape[1] // k.shape[1])  # each query head's key head
    turned_q = turn(formula, tables, q, q_pos, used, "queries")
    turned_k = turn(formula, tables, k, k_pos, used, "keys")
    scores = turned_q @ turned_k[:, group].transpose(-1, -2)
    row = None
    if formula.name == "shaw":
        far = formula.options["max_distance"]
        offset = (k_pos[:, None, :] - q_pos[:, :, None])[:, None]  # n − m
        row = (offset.clamp(-far, far).long() + far).expand(scores.shape)
        scores = scores + (q @ tables["key_vectors"].T).gather(-1, row)
    scores = scores * scale
    added = bias(formula, tables, q_pos, k_pos)
    scores = scores if added is None else scores + added
    weights = softmax_over(scores, visible_pairs(scores, causal, mask))
    out = weights @ v[:, group]
    if row is not None:
        sums = torch.zeros(*weights.shape[:-1], len(tables["value_vectors"]), dtype=weights.dtype)
        out = out + sums.scatter_add(-1, row, weights) @ tables["value_vectors"]
    return Attended(out, weights, size_of(scores.detach(), weights.detach()))


def visible_pairs(scores: Tensor, causal: bool, mask: Tensor | None) -> Tensor:
    """Say which query sees which key; the last query is aligned with the last key."""
    queries, keys = scores.shape[-2:]
    sees = scores.detach() > -math.inf
    if causal:
        order = torch.arange(keys)[None, :] <= torch.arange(queries)[:, None] + (keys - queries)
        sees = sees & order
    return sees if mask is None else sees & mask


def softmax_over(scores: Tensor, sees: Tensor) -> Tensor:
    """Compute weights over the keys that are seen; a query that sees nothing has none."""
    shown = torch.where(sees, scores, 0.0)
    largest = torch.where(sees, scores, -math.inf).detach().amax(-1, keepdim=True)
    largest = torch.where(largest > -math.inf, largest, 0.0)
    powers = torch.where(sees, (shown - largest).clamp_max(0.0).exp(), 0.0)
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total > 0, total, 1.0)


def size_of(scores: Tensor, weights: Tensor) -> float:
    """Find the largest score among the pairs that have some weight."""
    matter = scores[weights > 1e-3]
    return float(matter.abs().max()) if matter.numel() else 0.0


# ---- layers ----


def projected(
    formula: Formula,
    encoding: Tables,
    own: Tables,
    x: Tensor,
    pos: Tensor,
    *,
    causal: bool,
    mask: Tensor | None,
) -> Attended:
    """Compute self-attention of x (B,T,D) between its projections."""
    batch, length, dim = x.shape
    width = dim // formula.heads
    mixed = linear(x, own["qkv.weight"], own.get("qkv.bias"))
    heads = mixed.reshape(batch, length, -1, width).permute(0, 2, 1, 3)
    groups = (heads.shape[1] - formula.heads) // 2
    q, k, v = heads.split([formula.heads, groups, groups], 1)
    seen = attention(formula, encoding, (q, k, v), pos, pos, causal=causal, mask=mask)
    joined = seen.out.permute(0, 2, 1, 3).reshape(batch, length, dim)
    return seen._replace(out=linear(joined, own["out.weight"], own.get("out.bias")))


def self_attention(
    formula: Formula,
    tables: Tables,
    x: Tensor,
    pos: Tensor,
    **how: Any,
) -> Attended:
    """Compute what locant.Attention does, from its weights."""
    x = fused(formula, under(tables, "encoding."), under(tables, "fuse."), x, pos)
    return projected(formula, under(tables, "encoding."), under(tables, "core."), x, pos, **how)


def fused(formula: Formula, encoding: Tables, fuse: Tables, x: Tensor, pos: Tensor) -> Tensor:
    """Embed the input and bring it back to the model's width."""
    x = embed(formula, encoding, x, pos)
    return linear(x, fuse["weight"], fuse["bias"]) if fuse else x


@dataclass
class Stack:
    """Describe a transformer: its encodings, which layer uses which, and its kind."""

    formulas: list[Formula]
    uses: list[int]
    per_layer: bool
    norm: str
    activation: str


def transformer(stack: Stack, tables: Tables, x: Tensor, pos: Tensor, **how: Any) -> Attended:
    """Compute what locant.Transformer does, from its weights."""
    encodings = [under(tables, f"encodings.{index}.") for index in range(len(stack.formulas))]
    size = 0.0
    for index, use in enumerate(stack.uses):
        formula, encoding = stack.formulas[use], encodings[use]
        if stack.per_layer or index == 0:
            x = fused(formula, encoding, under(tables, f"fuse.{index}."), x, pos)
        own = under(tables, f"layers.{index}.")
        core = under(own, "attention.")
        before = normed(own, "norms.0.", x) if stack.norm == "pre" else x
        seen = projected(formula, encoding, core, before, pos, **how)
        x, size = after(stack, own, x + seen.out), max(size, seen.size)
    x = normed(tables, "norm.", x) if stack.norm == "pre" else x
    return Attended(x, seen.weights, size)


def after(stack: Stack, own: Tables, x: Tensor) -> Tensor:
    """Compute the feed-forward half of a layer."""
    if stack.norm == "pre":
        return x + forward(stack, own, normed(own, "norms.1.", x))
    x = normed(own, "norms.0.", x)
    return normed(own, "norms.1.", x + forward(stack, own, x))


def forward(stack: Stack, own: Tables, x: Tensor) -> Tensor:
    """Apply the two linear layers of a feed-forward network."""
    act = gelu if stack.activation == "gelu" else torch.relu
    wide = act(linear(x, own["network.0.weight"], own["network.0.bias"]))
    return linear(wide, own["network.3.weight"], own["network.3.bias"])


def normed(own: Tables, prefix: str, x: Tensor) -> Tensor:
    """Apply a layer norm."""
    return layer_norm(x, x.shape[-1:], own[f"{prefix}weight"], own[f"{prefix}bias"])
