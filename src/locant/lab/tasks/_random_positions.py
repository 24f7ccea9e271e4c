"""Random positions that a task tells with its rows, for entrants such as rotary+randomized."""

from __future__ import annotations

import torch
from torch import Tensor

from locant._internal.checks import one_of
from locant.lab.tasks import SAMPLERS
from locant.lab.tasks.base import generator
from locant.positions.samplers import randomized, skips

LIMIT_TIMES = 2  # randomized positions lie below so many times the longest row


def check_sampler(owner: str, sampler: str) -> None:
    """Refuse a sampler that is not known; no sampler at all is allowed."""
    if sampler:
        one_of(owner, "sampler", sampler, SAMPLERS)


def position_limit(sampler: str, longest: int) -> int:
    """Return how many positions an encoding must know for rows of up to `longest` tokens."""
    return LIMIT_TIMES * longest if sampler == "randomized" else longest


def sampled_positions(
    sampler: str, inputs: Tensor, limit: int, purpose: str, *numbers: int
) -> Tensor | None:
    """Draw the positions (B,T) of rows below `limit`, by random numbers of their own; None without
    a sampler.

    "randomized" is drawn in tests too, as its authors do; "skips" is for training alone.
    """
    if not sampler:
        return None
    pos = torch.arange(inputs.shape[1]).expand(inputs.shape)
    draw = generator(f"positions/{purpose}", *numbers)
    if sampler == "randomized":
        return randomized(pos, limit, generator=draw)
    return skips(pos, limit, generator=draw) if purpose == "train" else pos
