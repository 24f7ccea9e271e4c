"""A causal model learns nothing from the future."""

from __future__ import annotations

import torch

from locant.certification.probe import Probe, PropertyResult, relative, show

NAME = "causal"
SENTENCE = "Under a causal mask, later tokens change no earlier output."
CLAIM = "law"
BOUND = 1e-5
WHY = "earlier outputs are computed from the same numbers; any change is a leak"


def measure(probe: Probe) -> PropertyResult:
    count = min(16, probe.last + 1)
    cut, worst = count // 2, 0.0
    pos = probe.positions(count)
    for seed in range(probe.effort.seeds):
        net = probe.model(probe.randomized(more=seed), causal=True, more=seed)
        x = probe.tokens(count, more=seed)
        changed = torch.cat([x[:, :cut], 3 * probe.tokens(count - cut, more=seed + 50)], 1)
        worst = max(worst, relative(net(changed, pos)[:, :cut], net(x, pos)[:, :cut]))
    message = (
        f"Other tokens from position {cut} on change the outputs before it by {show(worst)} of "
        "their size."
    )
    return PropertyResult(worst <= BOUND, show(worst), message, {"leak": worst})
