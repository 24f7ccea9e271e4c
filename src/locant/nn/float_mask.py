"""Masks as torch.nn takes them, True or −∞ = hidden, for an attention whose masks say what is seen.

A float mask of 0 and −∞ is a boolean one. Any other is added to the scores: it travels as a state
of the queries, so that every backend cuts it as it cuts the queries.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from locant.encodings.base import Encoding, senses
from locant.positions import visible

Shapes = dict[tuple[int, ...], tuple[int, ...]]


class TorchMask(NamedTuple):
    """What may be seen (boolean) and what is added to the scores, each (1|B, 1|H, 1|T, T)."""

    seen: Tensor | None
    added: Tensor | None

    def __and__(self, other: TorchMask) -> TorchMask:
        """Hide what either mask hides, and add what both add."""
        seen, added = self.seen, self.added
        if other.seen is not None:
            seen = other.seen if seen is None else seen & other.seen
        if other.added is not None:
            added = other.added if added is None else added + other.added
        return TorchMask(seen, added)


def read_mask(name: str, mask: Tensor | None, shapes: Shapes) -> TorchMask:
    """Read a mask of torch.nn; `shapes` says which shapes are allowed, and what each becomes."""
    if mask is None:
        return TorchMask(None, None)
    shape = tuple(mask.shape) if isinstance(mask, Tensor) else type(mask).__name__
    if shape not in shapes:
        allowed = " or ".join(str(one) for one in shapes)
        raise ValueError(f"{name} must have the shape {allowed}. Got {shape} instead.")
    mask = mask.view(shapes[shape])
    if mask.dtype == torch.bool:
        return TorchMask(~mask, None)
    if not mask.is_floating_point():
        raise ValueError(
            f"{name} must be boolean (True = hidden) or real numbers (−inf = hidden). Got "
            f"{mask.dtype} instead."
        )
    seen = mask != -math.inf
    if visible(mask) and not mask.requires_grad and bool(((mask == 0) | ~seen).all()):
        return TorchMask(seen, None)
    return TorchMask(seen, mask.masked_fill(~seen, 0.0))


class AddedMask(Encoding):
    """An encoding, and a float mask on top of its scores."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding.shape)
        self.encoding, self.axes = encoding, encoding.axes

    def states(self, x: Tensor, pos: Tensor, added: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states of queries and keys: the encoding's own, beside rows and indices.

        added  (1|B, 1|H, 1|T, T): what goes on top of the scores
        """
        batch, length, _ = x.shape
        heads = self.shape.heads
        rows = added.to(torch.promote_types(added.dtype, torch.float32))
        rows = rows.expand(batch, heads, length, length)
        index = torch.arange(length, device=x.device, dtype=rows.dtype)
        index = index[:, None].expand(batch, heads, length, 1)
        own = self.encoding.sense(x, pos) if senses(self.encoding) else None
        if own is None:
            return rows, index
        own = own.expand(-1, heads, -1, -1)
        return torch.cat([rows, own], -1), torch.cat([index, own], -1)

    def sense(self, x: Tensor, pos: Tensor, past: Tensor | None = None) -> Tensor | None:
        return self.encoding.sense(x, pos, past)

    def state_bias(
        self, q_pos: Tensor, k_pos: Tensor, q_state: Tensor, k_state: Tensor
    ) -> Tensor | None:
        width = k_state.shape[-1] - 1  # of the encoding's own states
        rows = q_state[..., : q_state.shape[-1] - width]
        added = rows[..., k_state[0, 0, :, 0].long()]  # (B, H, Q, K)
        if not senses(self.encoding):
            return added
        own = self.encoding.state_bias(q_pos, k_pos, q_state[..., -width:], k_state[..., 1:])
        return added if own is None else added + own

    def precompute(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> Any:
        return self.encoding.precompute(q_pos, k_pos, dtype)

    def rotate(
        self, q: Tensor, k: Tensor, q_pos: Tensor, k_pos: Tensor, precomputed: Any = None
    ) -> tuple[Tensor, Tensor]:
        return self.encoding.rotate(q, k, q_pos, k_pos, precomputed)

    def temperature(self, q_pos: Tensor) -> Tensor | None:
        return self.encoding.temperature(q_pos)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor | None:
        return self.encoding.bias(q_pos, k_pos)

    def rescore(
        self,
        scores: Tensor,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        return self.encoding.rescore(scores, q, k, q_pos, k_pos, may_see)

    def mix(
        self,
        weights: Tensor,
        v: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        return self.encoding.mix(weights, v, q_pos, k_pos, may_see)
