"""Evenly spaced positions, whose distances one line of numbers holds."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Spacing(NamedTuple):
    """Even spacing: the step, and how far the first query is ahead of the first key (both 0-d)."""

    step: Tensor
    ahead: Tensor


def evenly_spaced(q_pos: Tensor, k_pos: Tensor) -> Spacing | None:
    """Return the spacing of positions (Q|B,Q) and (K|B,K) if all rows share one, else None.

    >>> evenly_spaced(torch.tensor([7, 9]), torch.tensor([1, 3, 5, 7]))
    Spacing(step=tensor(2), ahead=tensor(6))
    >>> evenly_spaced(torch.tensor([7, 9]), torch.tensor([1, 3, 5, 8])) is None
    True
    """
    if q_pos.dtype != k_pos.dtype or k_pos.shape[-1] < 2:
        return None
    q_pos, k_pos = (pos if pos.is_floating_point() else pos.long() for pos in (q_pos, k_pos))
    step = k_pos.flatten()[1] - k_pos.flatten()[0]
    ahead = q_pos[..., 0] - k_pos[..., 0]
    even = all(bool((pos == pos[..., :1] + step * _counted(pos)).all()) for pos in (q_pos, k_pos))
    return (
        Spacing(step, ahead.flatten()[0])
        if even and bool((ahead == ahead.flatten()[0]).all())
        else None
    )


def _counted(pos: Tensor) -> Tensor:
    """0, 1, 2, … for each token: (T)."""
    return torch.arange(pos.shape[-1], device=pos.device)
