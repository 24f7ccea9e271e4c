"""The only training loop: fresh batches, AdamW, warm-up then a constant rate, clipped gradients, float32, eager."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


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
) -> list[float]:
    """Train a model in place and return the loss of every step.

    loss_of_batch  draws a batch with the generator and gives its loss; the same seed gives the same batches
    enough         stop early when the mean loss of the last ten steps is below this
    """
    generator = torch.Generator().manual_seed(seed)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / warm_up))
    model.train()
    losses = []
    for step in range(steps):
        loss = loss_of_batch(generator)
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss.item()} at step {step}")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if sum(losses[-10:]) / 10 < enough and len(losses) >= 10:
            break
    model.eval()
    return losses
