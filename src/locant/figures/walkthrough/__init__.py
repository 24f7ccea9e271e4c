"""Worked examples: what an encoding does at one position, or to a query and a key, step by step.

Nothing here knows a formula: waves, slopes and buckets are found in what the hooks return, and what
is written is checked against it first. So a user's own encoding is worked out like ours.

>>> (part,) = work_out(make("sinusoidal", dim=4), position=3)
>>> for dimension in part.lines[:4]:
...     print(dimension)
dimension 0   sin(3/1) = 0.1411     derivative: cos(3/1)/1 = −0.9900
dimension 1   cos(3/1) = −0.9900    derivative: −sin(3/1)/1 = −0.1411
dimension 2   sin(3/100) = 0.0300   derivative: cos(3/100)/100 = 0.0100
dimension 3   cos(3/100) = 0.9996   derivative: −sin(3/100)/100 = −0.0003
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from locant.encodings.base import Encoding, overrides
from locant.figures.data.base import frozen
from locant.figures.walkthrough import bias_steps, embed_steps, rotate_steps, score_steps
from locant.figures.walkthrough.arithmetic import WorkedPart

__all__ = ["HOOKS", "WorkedPart", "work_out"]

HOOKS: dict[str, Callable[[Encoding, float, float], WorkedPart]] = {
    "embed": embed_steps.work_out,
    "rotate": rotate_steps.work_out,
    "bias": bias_steps.work_out,
    "state_bias": bias_steps.work_out_states,
    "rescore": score_steps.work_out_rescore,
    "mix": score_steps.work_out_mix,
}


@torch.no_grad()
def work_out(
    encoding: Encoding, position: float = 3, key: float = 1, hooks: Iterable[str] = tuple(HOOKS)
) -> list[WorkedPart]:
    """Work out a token at `position`, or a query there and a key at `key`, for each hook that is
    used.

    hooks  those to work out; all by default
    """
    encoding = frozen(encoding)
    if not any(overrides(encoding, hook) for hook in HOOKS):
        return [score_steps.work_out_unchanged(encoding, position, key)]
    return [HOOKS[hook](encoding, position, key) for hook in hooks if overrides(encoding, hook)]
