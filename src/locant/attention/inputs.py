"""What positions and a mask decide, prepared once for a forward pass and shared by all layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from locant.attention.backends.tiled.block_bias import ByBlocks
from locant.attention.masks import Materialized
from locant.attention.recomputing import BiasFacts
from locant.encodings.base import Encoding
from locant.encodings.hooks import States
from locant.positions import Mask, SegmentMask

PAIRS_A_CALL = 1 << 13  # pairs of tokens that cost about as much as one call more


class Part(NamedTuple):
    """One packed sequence: how many queries and keys it has, and its own inputs."""

    queries: int
    keys: int
    inputs: AttentionInputs


@dataclass(eq=False)
class AttentionInputs:
    """An encoding at given positions, under a mask and a causal order.

    sizes        (B, H, Q, K)
    mask         (1|B, 1|H, 1|Q, K) boolean, True = may be seen
    precomputed  what the encoding's `rotate` is given besides positions
    states       of the tokens of one layer, if the encoding has a `sense`

    The last fields keep what a call found out about the bias, for the layers that follow.
    """

    encoding: Encoding
    q_pos: Tensor
    k_pos: Tensor
    sizes: tuple[int, int, int, int]
    causal: bool = False
    mask: Tensor | None = None
    precomputed: Any = None
    states: States | None = None

    parts: tuple[Part, ...] = ()  # one for each packed sequence that is computed by itself

    only_materialized: bool = field(default=False, init=False)  # there is no other form
    facts: BiasFacts | None = field(default=None, init=False)
    materialized: Materialized | None = field(default=None, init=False)
    by_blocks: dict[torch.dtype, ByBlocks] = field(default_factory=dict, init=False)

    def block(self, first: int, last: int) -> AttentionInputs:
        """Cut out queries first..last−1, with the keys that they may see."""
        batch, heads, queries, keys = self.sizes
        keys = last + keys - queries if self.causal else keys
        mask = self.mask
        if mask is not None:
            mask = mask[..., :keys] if mask.shape[-2] == 1 else mask[..., first:last, :keys]
        states = self.states
        if states is not None:
            states = States(states.q[..., first:last, :], states.k[..., :keys, :])
        axis = token_axis(self.encoding)
        return AttentionInputs(
            self.encoding,
            self.q_pos.narrow(axis, first, last - first),
            self.k_pos.narrow(axis, 0, keys),
            (batch, heads, last - first, keys),
            causal=self.causal,
            mask=mask,
            states=states,
        )


def token_axis(encoding: Encoding) -> int:
    """Say which dimension of positions counts the tokens."""
    return -1 if encoding.axes == 1 else -2


def prepare(
    encoding: Encoding,
    q_pos: Tensor,
    k_pos: Tensor,
    *,
    like: Tensor,
    causal: bool = False,
    mask: Mask | None = None,
    states: States | None = None,
    rotated_pos: Tensor | None = None,
) -> AttentionInputs:
    """Prepare a forward pass for tokens or queries `like` (B, …).

    mask         as `validation.check_mask` returns it; packed sequences are cut apart where it pays
    rotated_pos  the keys' positions for `rotate`, when only new keys are rotated (a cache holds the
                 others)
    """
    axis = token_axis(encoding)
    rotated_pos = k_pos if rotated_pos is None else rotated_pos
    sizes = (like.shape[0], encoding.shape.heads, q_pos.shape[axis], k_pos.shape[axis])
    lengths: tuple[int, ...] = ()
    if isinstance(mask, SegmentMask):
        if _pays_apart(mask.lengths):
            lengths, mask = mask.lengths, mask.also
        else:
            dense = mask.dense(sizes[2], like.device)
            mask = dense[(None,) * (4 - dense.dim())]
    inputs = AttentionInputs(
        encoding,
        q_pos,
        k_pos,
        sizes,
        causal=causal,
        mask=mask,
        precomputed=encoding.precompute(q_pos, rotated_pos, like.dtype),
        states=states,
    )
    if lengths:
        inputs.parts = _cut(inputs, lengths)
    return inputs


def _pays_apart(lengths: tuple[int, ...]) -> bool:
    """Say whether computing each sequence by itself saves more than its calls cost."""
    saved = sum(lengths) ** 2 - sum(length**2 for length in lengths)
    return saved >= PAIRS_A_CALL * len(lengths)


def _cut(inputs: AttentionInputs, lengths: tuple[int, ...]) -> tuple[Part, ...]:
    """Cut out each packed sequence that has queries; these are the last of all tokens."""
    batch, heads, queries, keys = inputs.sizes
    axis, parts, last = token_axis(inputs.encoding), [], keys
    for length in reversed(lengths):
        first_key, first_query = last - length, max(0, last - length - keys + queries)
        count = last - keys + queries - first_query
        if count <= 0:
            break
        mask = inputs.mask
        if mask is not None:
            some = slice(first_query, first_query + count) if mask.shape[-2] > 1 else slice(None)
            mask = mask[..., some, first_key:last]
        part = AttentionInputs(
            inputs.encoding,
            inputs.q_pos.narrow(axis, first_query, count),
            inputs.k_pos.narrow(axis, first_key, length),
            (batch, heads, count, length),
            causal=inputs.causal,
            mask=mask,
        )
        parts.append(Part(count, length, part))
        last = first_key
    return tuple(reversed(parts))


def prepare_step(
    encoding: Encoding,
    pos: Tensor,
    before: Tensor | None,
    *,
    like: Tensor,
    mask: Mask | None = None,
) -> AttentionInputs:
    """Prepare new tokens at `pos` over old ones at `before` and themselves, causally."""
    axis = token_axis(encoding)
    before = pos.narrow(axis, 0, 0) if before is None else before
    rows = {p.shape[0] if p.dim() + axis > 0 else 0 for p in (pos, before)}
    if len(rows) > 1:  # (T) or (1,T) beside (B,T)
        tail = -axis
        pos, before = (p.expand(like.shape[0], *p.shape[-tail:]) for p in (pos, before))
    rotated = pos if encoding.cacheable_keys else None
    both = torch.cat([before, pos], axis)
    return prepare(encoding, pos, both, like=like, causal=True, mask=mask, rotated_pos=rotated)
