"""The only training loop: AdamW, a learning-rate schedule, clipped gradients; float32, eager,
deterministic.

A step's batch and dropout come from seeds of that step alone. A loop that starts at step n with the
weights and the optimizer of step n therefore gives the same bits as one that was never interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Groups = list[dict[str, Any]]
STOP_WINDOW = 10  # steps whose mean loss is compared with `stop_below`


def train(
    model: nn.Module,
    loss_at: Callable[[int], Tensor],
    *,
    steps: int,
    lr: float = 3e-3,
    warm_up: int = 20,
    clip: float = 1.0,
    stop_below: float = 0.0,
    schedule: str = "constant",
    final: float = 0.1,
    lr_update_every: int = 1,
    beta2: float = 0.98,
    weight_decay: float = 0.01,
    groups: Groups | None = None,
    start: int = 0,
    resume: Callable[[torch.optim.Optimizer], None] | None = None,
    after: Callable[[int, float, torch.optim.Optimizer], bool | None] | None = None,
) -> list[float]:
    """Train a model in place and return the loss of every step.

    loss_at          the loss of a step's batch; the same step must give the same batch
    stop_below       end early when the mean loss of the last ten steps is below this value
    lr_update_every  steps between updates of the learning rate
    groups           parameter groups as torch's optimizers take them; one group by default
    start, resume    steps that are already done, and a function that restores the optimizer's state
    after            called with the number of steps done, the last loss and the optimizer after
    every
                     step; True ends the training
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        groups or parameters, lr=lr, betas=(0.9, beta2), weight_decay=weight_decay, fused=True
    )
    full_lrs = [group["lr"] for group in optimizer.param_groups]
    if resume is not None:
        resume(optimizer)
    losses: list[float] = []
    model.train()
    for step in range(start, steps):
        last_update = step // lr_update_every * lr_update_every
        scale = lr_scale(last_update, steps, warm_up, schedule, final)
        for group, full_lr in zip(optimizer.param_groups, full_lrs, strict=True):
            group["lr"] = full_lr * scale
        loss = loss_at(step)
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            raise FloatingPointError(f"the loss is {losses[-1]} at step {step}")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        if after is not None and after(step + 1, losses[-1], optimizer):
            break
        if len(losses) >= STOP_WINDOW and sum(losses[-STOP_WINDOW:]) / STOP_WINDOW < stop_below:
            break
    model.eval()
    return losses


def lr_scale(step: int, steps: int, warm_up: int, schedule: str, final: float) -> float:
    """Return the factor of the learning rate at a step: linear warm-up, then constant or a cosine
    down to `final`.

    >>> [round(lr_scale(step, 100, 10, "cosine", 0.1), 2) for step in (0, 9, 10, 99)]
    [0.1, 1.0, 1.0, 0.1]
    """
    if step < warm_up:
        return (step + 1) / warm_up
    if schedule == "constant":
        return 1.0
    done = (step - warm_up) / max(1, steps - warm_up)
    return final + (1 - final) / 2 * (1 + math.cos(math.pi * min(1.0, done)))
