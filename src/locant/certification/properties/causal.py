"""A causal model learns nothing from the future."""

from __future__ import annotations

import torch

from locant.certification.probe import Measured, Subject, relative, show

SENTENCE = "Under a causal mask, later tokens change no earlier output."
CLAIM = "law"
BOUND = 1e-5
WHY = "earlier outputs are computed from the same numbers; any change is a leak"


def measure(subject: Subject) -> Measured:
    count = min(16, subject.last + 1)
    cut, worst = count // 2, 0.0
    pos = subject.places(count)
    for seed in range(subject.effort.seeds):
        net = subject.model(subject.stirred(more=seed), causal=True, more=seed)
        x = subject.tokens(count, more=seed)
        changed = torch.cat([x[:, :cut], 3 * subject.tokens(count - cut, more=seed + 50)], 1)
        worst = max(worst, relative(net(changed, pos)[:, :cut], net(x, pos)[:, :cut]))
    said = f"Other tokens from place {cut} on change the outputs before it by {show(worst)} of their size."
    return Measured(worst <= BOUND, show(worst), said, {"leak": worst})
