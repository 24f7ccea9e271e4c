"""One call of attention on rotated queries and keys: its request, its backend, its kernel."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from locant import positions
from locant.attention.backends.tiled.block_bias import ByBlocks
from locant.attention.backends.tiled.by_blocks import take_by_blocks
from locant.attention.dispatch import FEW_QUERIES, MIN_PAIRS, Backend, choose
from locant.attention.inputs import AttentionInputs
from locant.attention.masks import Materialized, materialize
from locant.attention.recomputing import examine_bias
from locant.attention.request import Request
from locant.encodings.base import Encoding, needs_scores
from locant.encodings.hooks import States


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    *,
    scale: float,
    drop: nn.Dropout | None = None,
    backend: str = "auto",
) -> Tensor:
    """Attend from rotated q (B,H,Q,·) to rotated k (B,G,K,·) and v (B,G,K,d): (B,H,Q,d).

    One query over shared key heads becomes H/G queries of one head, so that no key is copied.
    Packed sequences are computed one by one.
    """
    if inputs.parts:
        return _run_parts(q, k, v, inputs, scale=scale, drop=drop, backend=backend)
    batch, heads, queries, _ = q.shape
    groups = k.shape[1]
    if regroups(heads, groups, queries, inputs.encoding, drop) and backend == "auto":
        grouped = group_heads(inputs, groups, q.dtype)
        out = run(q.reshape(batch, groups, heads // groups, -1), k, v, grouped, scale=scale)
        return out.reshape(batch, heads, 1, -1)
    k, v = repeat_key_heads(q, k, v)
    if backend == "auto":
        q, k, inputs = carry_states(q, k, inputs, scale)
    request = describe_call(q, k, v, inputs, drop, examine=backend in ("tiled", "flex"))
    chosen = choose(request, backend)
    return chosen.run(q, k, v, _form(chosen, inputs, q.dtype), scale=scale, drop=drop)


def _run_parts(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    *,
    scale: float,
    drop: nn.Dropout | None,
    backend: str,
) -> Tensor:
    """Attend within each packed sequence; the keys of sequences without queries are left out."""
    queries, keys, own = zip(*inputs.parts, strict=True)
    unseen = k.shape[-2] - sum(keys)
    q_parts = q.split(queries, -2)
    k_parts, v_parts = (t.split((unseen, *keys), -2)[1:] for t in (k, v))
    if inputs.states is not None:
        q_states = inputs.states.q.split(queries, -2)
        k_states = inputs.states.k.split((unseen, *keys), -2)[1:]
        states = map(States, q_states, k_states)
        own = tuple(replace(one, states=state) for one, state in zip(own, states, strict=True))
    each = zip(q_parts, k_parts, v_parts, own, strict=True)
    return torch.cat([run(*part, scale=scale, drop=drop, backend=backend) for part in each], -2)


def _form(
    backend: Backend, inputs: AttentionInputs, dtype: torch.dtype
) -> Materialized | ByBlocks | AttentionInputs:
    """Bring the bias into the form that a backend takes, once for all layers of a forward pass."""
    if backend.takes == "materialized":
        return inputs.materialized or materialize(inputs, dtype)
    if backend.takes == "blocks":
        return take_by_blocks(inputs, torch.promote_types(dtype, torch.float32))
    return inputs


def repeat_key_heads(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Repeat every key head for the H/G query heads that it serves."""
    groups = q.shape[1] // k.shape[1]
    if groups == 1:
        return k, v
    return k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)


def regroups(
    heads: int, groups: int, queries: int, encoding: Encoding, drop: nn.Dropout | None
) -> bool:
    """Say whether one query a head can be taken as several queries of one key head."""
    return heads > groups and queries == 1 and drop is None and not needs_scores(encoding)


def group_heads(inputs: AttentionInputs, groups: int, dtype: torch.dtype) -> AttentionInputs:
    """Give the inputs of one query a head as those of H/G queries a key head."""
    attn_bias, unseeing, causal = inputs.materialized or materialize(inputs, dtype)
    if attn_bias is not None and attn_bias.shape[1] > 1:
        rows, _, _, keys = attn_bias.shape
        attn_bias = attn_bias.reshape(rows, groups, -1, keys)  # (1|B, G, H/G, K)
    if unseeing is not None and unseeing.shape[1] > 1:
        unseeing = unseeing.reshape(unseeing.shape[0], groups, -1, 1)
    grouped = replace(inputs, causal=False, states=None)
    grouped.only_materialized = True
    grouped.materialized = Materialized(attn_bias, unseeing, causal)
    return grouped


def carry_states(
    q: Tensor, k: Tensor, inputs: AttentionInputs, scale: float
) -> tuple[Tensor, Tensor, AttentionInputs]:
    """Let queries and keys carry the state bias in a few more features, where that is quicker."""
    features = carried_features(inputs, q) if scale > 0 else None
    if features is None:
        return q, k, inputs
    of_q, of_k = (part.to(q.dtype) for part in features)
    q = torch.cat([q, (of_q / scale).expand(*q.shape[:-1], -1)], -1)  # (B, H, Q, d + f)
    k = torch.cat([k, of_k.expand(*k.shape[:-1], -1)], -1)
    return q, k, replace(inputs, states=None)


def carried_features(inputs: AttentionInputs, like: Tensor) -> tuple[Tensor, Tensor] | None:
    """Return the features by which queries `like` and keys can carry the state bias.

    None where that is not quicker: for a few queries, which would copy every key; under a mask,
    which wider keys would have materialized; in half precision, which would round the features.
    """
    if inputs.states is None or inputs.mask is not None or like.dtype.itemsize < 4:
        return None
    if not positions.visible(like) or inputs.sizes[2] <= FEW_QUERIES:
        return None
    return inputs.encoding.state_features(*inputs.states)


def describe_call(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    inputs: AttentionInputs,
    drop: nn.Dropout | None,
    *,
    examine: bool = False,
) -> Request:
    """Describe a call by the facts that decide about its backend.

    examine  examine a bias even if it is short
    """
    request = Request(
        encoding=type(inputs.encoding).__name__,
        batch=q.shape[0],
        heads=q.shape[1],
        kv_heads=k.shape[1],
        queries=q.shape[-2],
        keys=k.shape[-2],
        head_width=inputs.encoding.shape.head,
        key_width=k.shape[-1],
        value_width=v.shape[-1],
        dtype=q.dtype,
        device=q.device.type,
        dropout=kind_of_dropout(drop),
        grad=torch.is_grad_enabled(),
        eager=all(positions.visible(t) for t in (q, inputs.q_pos, inputs.k_pos)),
        transformed=positions.in_transform(q),
    )
    return describe_inputs(request, inputs, examine=examine)


def describe_inputs(request: Request, inputs: AttentionInputs, *, examine: bool = False) -> Request:
    """Add what the inputs say about bias, mask and order."""
    mask = inputs.mask
    eager = request.eager and (mask is None or positions.visible(mask))
    request = request._replace(
        eager=eager,
        causal=inputs.causal,
        mask="none" if mask is None else "keys" if mask.shape[-2] == 1 else "pairs",
        needs_scores=needs_scores(inputs.encoding),
    )
    if request.needs_scores:
        return request
    some = not eager or 0 not in (request.queries, request.keys)
    long = eager and some and (examine or request.queries * request.keys >= MIN_PAIRS)
    if not long or inputs.only_materialized:
        attn_bias = (inputs.materialized or materialize(inputs, request.dtype)).attn_bias
        if attn_bias is None:
            return request
        added = attn_bias.shape[0] * attn_bias.shape[1]
        return request._replace(
            bias="materialized", bias_learns=attn_bias.requires_grad, added=added
        )
    if inputs.facts is None:
        inputs.facts = examine_bias(inputs)
    facts = inputs.facts
    added = _matrices(request, inputs, facts.kind)
    return request._replace(
        bias=facts.kind, bias_learns=facts.learns, one_piece=facts.one_piece, added=added
    )


def _matrices(request: Request, inputs: AttentionInputs, kind: str) -> int:
    """Count the matrices (Q,K) that a materialized bias and mask would have."""
    rows = heads = 0
    if kind != "none":
        rows, heads = 1, inputs.encoding.shape.heads
    mask = inputs.mask
    ordered = request.causal and request.queries > 1
    if mask is not None and (ordered or mask.shape[-2] > 1):  # a mask of keys alone is no matrix
        rows, heads = max(rows, mask.shape[0]), max(heads, mask.shape[1])
    elif ordered and request.queries != request.keys:
        rows, heads = max(rows, 1), max(heads, 1)
    return rows * heads


def kind_of_dropout(drop: nn.Dropout | None) -> str:
    """Say which kind of dropout a request has."""
    if drop is None:
        return "none"
    return "torch" if type(drop) is nn.Dropout else "module"
