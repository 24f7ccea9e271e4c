"""Gradients reach every parameter, are finite, and agree with finite differences."""

from __future__ import annotations

import torch

from locant.attention.layer import Attention
from locant.certification.probe import Probe, PropertyResult, learns, show

NAME = "gradients"
SENTENCE = "Every learned number gets a finite gradient that finite differences confirm."
CLAIM = "law"
BOUND = 1e-5
WHY = (
    "central differences in float64 with a step of 1e-6 are exact to about 1e-8 of the gradient's "
    "size"
)


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.randomized(torch.float64)
    named = dict(encoding.named_parameters())
    if not named:
        return PropertyResult(True, "–", "It learns nothing.")
    frozen = [name for name, parameter in named.items() if not parameter.requires_grad]
    if frozen:
        return PropertyResult(
            False,
            "frozen",
            f"{', '.join(frozen)} cannot learn: requires_grad is False.",
            {"frozen": frozen},
        )
    count = min(10, probe.last + 1)
    net, start, pos = (
        probe.layer(encoding),
        probe.layer(probe.original().double()),
        probe.positions(count),
    )
    x = probe.tokens(count, dtype=torch.float64)
    goal = probe.tokens(count, dtype=torch.float64, more=1)

    def loss(net: Attention = net) -> torch.Tensor:
        return (net(x, pos) * goal).sum()

    def gradients(net: Attention) -> tuple[torch.Tensor, ...]:
        with torch.enable_grad():
            return torch.autograd.grad(
                loss(net), list(net.encoding.parameters()), materialize_grads=True
            )

    grads = gradients(net)
    dead = [name for name, grad in zip(named, grads, strict=True) if not _reaches(grad)]
    if dead:
        return PropertyResult(
            False, "none", f"No gradient reaches {', '.join(dead)}.", {"dead": dead}
        )
    if not any(map(_reaches, gradients(start))):
        return PropertyResult(
            False,
            "stuck",
            "As it starts, no gradient reaches anything: it can never learn.",
            {"dead": []},
        )
    worst = 0.0
    for (name, parameter), grad in zip(named.items(), grads, strict=True):
        if not torch.isfinite(grad).all():
            return PropertyResult(False, "inf", f"The gradient of {name} is not finite.")
        direction = torch.randn(parameter.shape, generator=probe.generator(), dtype=torch.float64)
        step, kept = 1e-6, parameter.detach().clone()
        sides = []
        for sign in (1, -1):
            parameter.data.copy_(kept + sign * step * direction)
            sides.append(float(loss()))
        parameter.data.copy_(kept)
        slope, want = (sides[0] - sides[1]) / (2 * step), float((grad * direction).sum())
        size = max(abs(want), float((grad * direction).abs().sum()) * 0.01, 1e-12)
        worst = max(worst, abs(slope - want) / size)
    tensors = f"{len(named)} tensor{'s' * (len(named) > 1)}"
    message = (
        f"{learns(encoding):,} numbers in {tensors}; gradients differ from finite differences by "
        f"{show(worst)}."
    )
    if worst > BOUND:
        message += " What autograd says is not how the output moves."
    return PropertyResult(worst <= BOUND, show(worst), message, {"error": worst})


def _reaches(grad: torch.Tensor) -> bool:
    return bool((grad != 0).any())
