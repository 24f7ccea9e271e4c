"""Masks: what may be seen as numbers to add, and queries that see nothing."""

from __future__ import annotations

import torch
from torch import Tensor

from locant import positions


def hidden(see: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where a boolean mask lets see, −∞ where not: adding it costs far less on a CPU than filling by the mask."""
    return torch.zeros(see.shape, dtype=dtype, device=see.device).masked_fill_(~see, float("-inf"))


def blind(see: Tensor) -> Tensor | None:
    """Which queries see nothing; None when all are known to see something (a GPU is not kept waiting to know it)."""
    return _if_any(~see.any(-1, keepdim=True))


def blind_by_first(mask: Tensor, queries: int, *, causal: bool) -> Tensor | None:
    """The same for a mask (…, 1|Q, K) and a causal order that is not written down: query i sees keys up to i + K − Q.

    >>> blind_by_first(torch.tensor([[False, True, True]]), 3, causal=True).flatten().tolist()
    [True, False, False]
    """
    if not causal:
        return blind(mask)
    keys = mask.shape[-1]
    first = mask.byte().argmax(-1, keepdim=True).masked_fill(~mask.any(-1, keepdim=True), keys)
    last = torch.arange(queries, device=mask.device)[:, None] + keys - queries
    return _if_any(first > last)


def _if_any(queries: Tensor) -> Tensor | None:
    known = queries.device.type == "cpu" and positions.visible(queries)
    return None if known and not bool(queries.any()) else queries
