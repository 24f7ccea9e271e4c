"""Masks: boolean, True = may be seen; as numbers to add; and queries that see no key at all."""

from __future__ import annotations

import torch
from torch import Tensor

from locant import positions


def additive_mask(may_see: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn a boolean mask into numbers to add to scores: 0 where it lets see, −∞ where not.

    Adding numbers costs far less on a CPU than filling by a mask.
    """
    zeros = torch.zeros(may_see.shape, dtype=dtype, device=may_see.device)
    return zeros.masked_fill_(~may_see, float("-inf"))


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """Make the causal mask (Q,K): key j may be seen by query i when j ≤ i + K − Q."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def fully_masked(may_see: Tensor) -> Tensor | None:
    """Find the queries that see no key, (…, Q, 1); None when every query is known to see some.

    A GPU is not kept waiting for the answer: there the tensor is returned even if it is all False.
    """
    return none_if_all_false(~may_see.any(-1, keepdim=True))


def fully_masked_by_first(mask: Tensor, queries: int, *, causal: bool) -> Tensor | None:
    """Find the same for a mask (…, 1|Q, K) and a causal order that is not materialized.

    Query i sees keys up to i + K − Q, so it sees none when the first key that the mask shows is
    later.

    >>> mask = torch.tensor([[False, True, True]])
    >>> fully_masked_by_first(mask, 3, causal=True).flatten().tolist()
    [True, False, False]
    """
    if not causal:
        return fully_masked(mask)
    keys = mask.shape[-1]
    first = (
        mask.view(torch.uint8)
        .argmax(-1, keepdim=True)
        .masked_fill(~mask.any(-1, keepdim=True), keys)
    )
    last = torch.arange(queries, device=mask.device)[:, None] + keys - queries
    return none_if_all_false(first > last)


def none_if_all_false(queries: Tensor) -> Tensor | None:
    """Drop a boolean tensor that is known to be all False, where knowing costs no wait."""
    known = queries.device.type == "cpu" and positions.visible(queries)
    return None if known and not bool(queries.any()) else queries


def check_mask(mask: Tensor, sizes: tuple[int, int, int, int], device: torch.device) -> Tensor:
    """Check a mask against (B,H,Q,K) and give it four dimensions, (1|B, 1|H, 1|Q, K)."""
    if not isinstance(mask, Tensor):
        kind = type(mask).__name__
        raise ValueError(
            f"the mask must be a boolean tensor, True = may be seen. Got {kind} instead."
        )
    if mask.dtype != torch.bool:
        raise ValueError(
            f"a mask is boolean, True = may be seen. Got {mask.dtype} instead.\n"
            "  Where 1 = may be seen write mask.bool(); where 0 = may be seen and −∞ = hidden "
            "write mask == 0."
        )
    padded = (1,) * (4 - mask.dim()) + tuple(mask.shape)
    fits = mask.dim() <= 4 and padded[-1] == sizes[-1]
    if not fits or any(m not in (1, s) for m, s in zip(padded, sizes, strict=True)):
        raise ValueError(
            f"the mask has the shape {tuple(mask.shape)}, which does not fit (B,H,Q,K) = {sizes}.\n"
            "  For padding of shape (B,K) write mask[:, None, None, :]."
        )
    if mask.device != device:
        raise ValueError(
            f"the mask is on {mask.device}, but the tokens are on {device}. Move it there."
        )
    return mask.reshape(padded)
