"""Which backend serves a call of attention: the first of one ordered list that does not refuse.

`attend`, a backend that is forced, and `plan` all decide here, for prefill and decoding
alike.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from locant import positions
from locant._internal.checks import share, whole_number
from locant.attention.backends import blocked, flex, fused, reference
from locant.attention.backends.tiled import backend as tiled
from locant.attention.inputs import AttentionInputs, prepare, rotate
from locant.attention.request import Request
from locant.attention.validation import need_encoding
from locant.encodings.base import Encoding, needs_scores, senses

MIN_PAIRS_TO_EXAMINE = min(flex.MIN_PAIRS, tiled.MIN_PAIRS)  # below, every bias is materialized


class Backend(Protocol):
    """One way to compute attention; a module of `locant.attention.backends`."""

    NAME: str

    def refuses(self, request: Request) -> str: ...

    def unsuited(self, request: Request) -> str: ...

    def describe(self, request: Request) -> str: ...

    def run(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        inputs: AttentionInputs,
        *,
        scale: float,
        drop: nn.Dropout | None,
    ) -> Tensor: ...


BACKENDS: tuple[Backend, ...] = (flex, tiled, blocked, fused, reference)
NAMES = tuple(backend.NAME for backend in BACKENDS)


class Plan(NamedTuple):
    """The backend of a call, and why it."""

    backend: str
    why: str


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
    """
    batch, heads, queries, _ = q.shape
    groups = k.shape[1]
    if _regroups(heads, groups, queries, inputs.encoding, drop) and backend == "auto":
        grouped = inputs.grouped(groups, q.dtype)
        out = run(q.reshape(batch, groups, heads // groups, -1), k, v, grouped, scale=scale)
        return out.reshape(batch, heads, 1, -1)
    k, v = repeat_key_heads(q, k, v)
    request = describe_call(q, k, v, inputs, drop, examine=backend in ("tiled", "flex"))
    return choose(request, backend).run(q, k, v, inputs, scale=scale, drop=drop)


def choose(request: Request, backend: str = "auto") -> Backend:
    """Choose the first backend that neither refuses nor is unsuited.

    A backend that is forced by its name must not refuse; whether it is suited does not matter.
    """
    if backend == "auto":
        return next(
            one for one in BACKENDS if not one.refuses(request) and not one.unsuited(request)
        )
    forced = BACKENDS[NAMES.index(backend)]
    if reason := forced.refuses(request):
        raise ValueError(
            f"backend={backend!r} cannot serve {request.encoding} here: {reason}.\n"
            "  Use 'auto' or 'reference'; locant.plan says what 'auto' takes."
        )
    return forced


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
        dropout=_kind_of_dropout(drop),
        grad=torch.is_grad_enabled(),
        eager=all(positions.visible(t) for t in (q, inputs.q_pos, inputs.k_pos)),
        transformed=positions.in_transform(q),
    )
    return _with_inputs(request, inputs, examine)


def _with_inputs(request: Request, inputs: AttentionInputs, examine: bool) -> Request:
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
    long = eager and some and (examine or request.queries * request.keys >= MIN_PAIRS_TO_EXAMINE)
    if not long or inputs.only_materialized:
        attn_bias = inputs.materialized(request.dtype).attn_bias
        if attn_bias is None:
            return request
        added = attn_bias.shape[0] * attn_bias.shape[1]
        return request._replace(
            bias="materialized", bias_learns=attn_bias.requires_grad, added=added
        )
    facts = inputs.bias_facts
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


def _regroups(
    heads: int, groups: int, queries: int, encoding: Encoding, drop: nn.Dropout | None
) -> bool:
    """Say whether one query a head can be taken as several queries of one key head."""
    return heads > groups and queries == 1 and drop is None and not needs_scores(encoding)


def _kind_of_dropout(drop: nn.Dropout | None) -> str:
    if drop is None:
        return "none"
    return "torch" if type(drop) is nn.Dropout else "module"


def repeat_key_heads(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Repeat every key head for the H/G query heads that it serves."""
    groups = q.shape[1] // k.shape[1]
    return (
        (k, v) if groups == 1 else (k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1))
    )


def plan(
    encoding: Encoding,
    length: int,
    *,
    keys: int | None = None,
    batch: int = 1,
    kv_heads: int | None = None,
    causal: bool = False,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    pos: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    device: str | torch.device = "cpu",
) -> Plan:
    """Say which backend `attend` takes for `length` queries, and why, without computing anything.

    keys      as many as queries by default; with a cache, more: the queries are the last tokens
    kv_heads  fewer key heads than query heads (grouped-query attention)
    pos       positions (K) of all keys, when they are not 0, 1, 2, …
    mask      boolean as in `attend`

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
    axis = -1 if encoding.axes == 1 else -2
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
    first = prepare(encoding, q_pos.narrow(axis, 0, 1), k_pos.narrow(axis, 0, 1), like=token)
    inputs = prepare(encoding, q_pos, k_pos, like=token, causal=causal, mask=mask)
    if senses(encoding):
        state = encoding.sense(token.new_zeros(batch, keys, encoding.shape.dim), k_pos)
        assert state is not None
        inputs = inputs.with_states(state[..., keys - inputs.queries :, :], state)
    drop = nn.Dropout(share("plan", "dropout", dropout)) if dropout else None
    if _regroups(heads, groups, queries, encoding, drop):
        inputs = inputs.grouped(groups, dtype)
        queries, heads = heads // groups, groups
    request = Request(
        encoding=type(encoding).__name__,
        batch=batch,
        heads=heads,
        kv_heads=groups,
        queries=queries,
        keys=keys,
        head_width=width,
        key_width=rotate(first, token, token)[1].shape[-1],
        value_width=width,
        dtype=dtype,
        device=torch.device(device).type,
        dropout=_kind_of_dropout(drop),
        grad=torch.is_grad_enabled(),
    )
    request = _with_inputs(request, inputs, examine=False)
    chosen = choose(request)
    return Plan(chosen.NAME, chosen.describe(request))
