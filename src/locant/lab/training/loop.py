"""The only training loop: AdamW, a schedule, clipped gradients, float32, eager; nothing left to chance.

A step's batch and its dropout come from seeds of that step alone, so a loop that starts at step n with the weights and
the optimiser of step n gives the same bits as one that was never interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Groups = list[dict[str, Any]]


def train(
    model: nn.Module,
    loss_at: Callable[[int], Tensor],
    *,
    steps: int,
    rate: float = 3e-3,
    warm_up: int = 20,
    clip: float = 1.0,
    enough: float = 0.0,
    schedule: str = "constant",
    final: float = 0.1,
    pace_every: int = 1,
    beta2: float = 0.98,
    weight_decay: float = 0.01,
    groups: Groups | None = None,
    start: int = 0,
    resume: Callable[[torch.optim.Optimizer], None] | None = None,
    after: Callable[[int, float, torch.optim.Optimizer], bool | None] | None = None,
) -> list[float]:
    """Train a model in place and return the loss of every step.

    loss_at        the loss of a step's batch; the same step must give the same batch
    enough         stop early when the mean loss of the last ten steps is below this
    groups         parameters with settings of their own, as torch's optimisers take them; all alike by default
    start, resume  steps that are done already, and what brings the optimiser back to where it was
    after          called with the number of steps done, the last loss and the optimiser; True ends the training
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(
        groups or parameters, lr=rate, betas=(0.9, beta2), weight_decay=weight_decay, fused=True
    )
    rates = [group["lr"] for group in optimiser.param_groups]
    if resume is not None:
        resume(optimiser)
    losses: list[float] = []
    model.train()
    for step in range(start, steps):
        share = pace(step // pace_every * pace_every, steps, warm_up, schedule, final)
        for group, full in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = full * share
        loss = loss_at(step)
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            raise FloatingPointError(f"the loss is {losses[-1]} at step {step}")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        if after is not None and after(step + 1, losses[-1], optimiser):
            break
        if len(losses) >= 10 and sum(losses[-10:]) / 10 < enough:
            break
    model.eval()
    return losses


def pace(step: int, steps: int, warm_up: int, schedule: str, final: float) -> float:
    """The share of the rate at a step: up in a line, then constant or down a cosine to its final share.

    >>> [round(pace(step, 100, 10, "cosine", 0.1), 2) for step in (0, 9, 10, 99)]
    [0.1, 1.0, 1.0, 0.1]
    """
    if step < warm_up:
        return (step + 1) / warm_up
    if schedule == "constant":
        return 1.0
    done = (step - warm_up) / max(1, steps - warm_up)
    return final + (1 - final) / 2 * (1 + math.cos(math.pi * min(1.0, done)))
