"""The only training loop: fresh batches, AdamW, a schedule, clipped gradients, float32, eager; nothing left to chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Groups = list[dict[str, Any]]


def train(
    model: nn.Module,
    loss_of_batch: Callable[[torch.Generator], Tensor],
    *,
    steps: int,
    rate: float = 3e-3,
    seed: int = 0,
    warm_up: int = 20,
    clip: float = 1.0,
    enough: float = 0.0,
    schedule: str = "constant",
    beta2: float = 0.98,
    weight_decay: float = 0.01,
    groups: Groups | None = None,
    after: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train a model in place and return the loss of every step.

    loss_of_batch  draws a batch with the generator and gives its loss; the same seed gives the same batches
    enough         stop early when the mean loss of the last ten steps is below this
    groups         parameters with settings of their own, as torch's optimisers take them; all alike by default
    after          called with the number of steps done and the last loss
    """
    generator = torch.Generator().manual_seed(seed)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(groups or parameters, lr=rate, betas=(0.9, beta2), weight_decay=weight_decay)
    pace = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _pace(step, steps, warm_up, schedule))
    losses: list[float] = []
    model.train()
    for step in range(steps):
        loss = loss_of_batch(generator)
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            raise FloatingPointError(f"the loss is {losses[-1]} at step {step}")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        pace.step()
        if after is not None:
            after(step + 1, losses[-1])
        if len(losses) >= 10 and sum(losses[-10:]) / 10 < enough:
            break
    model.eval()
    return losses


def _pace(step: int, steps: int, warm_up: int, schedule: str) -> float:
    """The share of the rate at a step: up in a line, then constant or down a cosine to a tenth.

    >>> [round(_pace(step, 100, 10, "cosine"), 2) for step in (0, 9, 10, 99)]
    [0.1, 1.0, 1.0, 0.1]
    """
    if step < warm_up:
        return (step + 1) / warm_up
    if schedule == "constant":
        return 1.0
    done = (step - warm_up) / max(1, steps - 1 - warm_up)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, done)))
