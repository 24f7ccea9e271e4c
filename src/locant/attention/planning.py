"""Say which backend a call of attention would take, without computing anything."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from locant import positions
from locant._internal.checks import share, whole_number
from locant.attention.calls import (
    carried_features,
    describe_inputs,
    group_heads,
    kind_of_dropout,
    regroups,
)
from locant.attention.dispatch import choose
from locant.attention.inputs import prepare, token_axis
from locant.attention.request import Request
from locant.attention.validation import check_mask, need_encoding
from locant.encodings.base import Encoding
from locant.encodings.hooks import States, rotate, sense
from locant.positions import Mask


class Plan(NamedTuple):
    """The backend of a call, and why it."""

    backend: str
    why: str


def plan(
    encoding: Encoding,
    length: int,
    *,
    keys: int | None = None,
    batch: int = 1,
    kv_heads: int | None = None,
    causal: bool = False,
    mask: Mask | None = None,
    dropout: float = 0.0,
    pos: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    device: str | torch.device = "cpu",
) -> Plan:
    """Say which backend `attend` takes for `length` queries, and why, without computing anything.

    keys      as many as queries by default; with a cache, more: the queries are the last tokens
    kv_heads  fewer key heads than query heads (grouped-query attention)
    pos       positions (K) of all keys, when they are not 0, 1, 2, …
    mask      as in `attend`; of packed sequences, the longest is planned

    Gradients count: inside torch.no_grad() a learned bias needs none, and another backend may
    serve.

    >>> plan(make("rotary", dim=64, heads=4), 512)
    Plan(backend='fused', why='plain attention')
    >>> plan(make("t5", dim=64, heads=4), 8192, causal=True).backend
    'tiled'
    >>> plan(make("shaw", dim=64, heads=4), 1, keys=8192, causal=True).backend
    'reference'
    """
    need_encoding("plan", encoding)
    queries = whole_number("plan", "length", length)
    keys = whole_number("plan", "keys", queries if keys is None else keys)
    k_pos = positions.consecutive(keys, device=device) if pos is None else pos
    if encoding.axes > 1 and k_pos.dim() == 1:
        k_pos = k_pos[:, None].expand(-1, encoding.axes)
    axis = token_axis(encoding)
    if k_pos.shape[axis] != keys:
        raise ValueError(
            f"plan was given {k_pos.shape[axis]} positions for {keys} keys: one for each is needed."
        )
    q_pos = k_pos.narrow(axis, keys - min(queries, keys), min(queries, keys))
    heads, width = encoding.shape.heads, encoding.shape.head
    groups = heads if kv_heads is None else whole_number("plan", "kv_heads", kv_heads)
    if heads % groups:
        raise ValueError(
            f"{heads} query heads cannot share kv_heads={groups}: the one must divide the other."
        )
    if not dtype.is_floating_point:
        raise ValueError(f"plan needs a floating-point dtype. Got {dtype} instead.")
    token = torch.zeros(batch, heads, 1, width, dtype=dtype, device=device)
    mask = check_mask(mask, (batch, heads, q_pos.shape[axis], keys), token.device)
    states = sense(encoding, token.new_zeros(batch, keys, encoding.shape.dim), k_pos)
    if states is not None:
        states = States(states.q[..., keys - q_pos.shape[axis] :, :], states.k)
    inputs = prepare(encoding, q_pos, k_pos, like=token, causal=causal, mask=mask, states=states)
    if inputs.parts:
        longest = max(inputs.parts, key=lambda part: part.keys)
        found = plan(
            encoding,
            longest.queries,
            keys=longest.keys,
            batch=batch,
            kv_heads=kv_heads,
            causal=causal,
            mask=longest.inputs.mask,
            dropout=dropout,
            pos=longest.inputs.k_pos,
            dtype=dtype,
            device=device,
        )
        return Plan(found.backend, f"each packed sequence by itself: {found.why}")
    key_width = _key_width(encoding, token, q_pos, k_pos)
    if (features := carried_features(inputs, token)) is not None:
        inputs = replace(inputs, states=None)
        key_width += features[1].shape[-1]
    drop = nn.Dropout(share("plan", "dropout", dropout)) if dropout else None
    if regroups(heads, groups, queries, encoding, drop):
        inputs = group_heads(inputs, groups, dtype)
        queries, heads = heads // groups, groups
    request = Request(
        encoding=type(encoding).__name__,
        batch=batch,
        heads=heads,
        kv_heads=groups,
        queries=queries,
        keys=keys,
        head_width=width,
        key_width=key_width,
        value_width=width,
        dtype=dtype,
        device=torch.device(device).type,
        dropout=kind_of_dropout(drop),
        grad=torch.is_grad_enabled(),
    )
    request = describe_inputs(request, inputs)
    chosen = choose(request)
    return Plan(chosen.name, chosen.describe(request))


def _key_width(encoding: Encoding, token: Tensor, q_pos: Tensor, k_pos: Tensor) -> int:
    """Say how wide one rotated key is, for a token (B,H,1,d)."""
    axis = token_axis(encoding)
    q_pos, k_pos = q_pos.narrow(axis, 0, 1), k_pos.narrow(axis, 0, 1)
    precomputed = encoding.precompute(q_pos, k_pos, token.dtype)
    return rotate(encoding, token, token, q_pos, k_pos, precomputed)[1].shape[-1]
