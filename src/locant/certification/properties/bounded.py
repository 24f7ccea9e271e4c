"""Bounded: what is added stays in a fixed range, however large the position."""

from __future__ import annotations

import torch

from locant.certification.probe import Probe, PropertyResult, show, signature
from locant.encodings.base import overrides

NAME = "bounded"
SENTENCE = (
    "What it adds to the input or the scores, or multiplies by, stays in a fixed range at any "
    "position."
)
CLAIM = "bounded"
BOUND = 2.0
WHY = (
    "sums of waves reach their full range slowly, so the far range may be somewhat wider; what "
    "grows, grows a thousandfold"
)

HOOKS = ("embed", "rotate", "bias", "state_bias", "rescore", "mix")


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.randomized()
    if not any(overrides(encoding, hook) for hook in HOOKS):
        return PropertyResult(True, "0", "It adds nothing.", {"near": 0.0, "far": 0.0})
    near = torch.arange(min(256, probe.last + 1))
    far = torch.logspace(
        0, torch.log10(torch.tensor(float(max(probe.last, 1)))), 256, dtype=torch.float64
    ).long()
    far = far.clamp_max(probe.last).unique()
    origin = probe.at(torch.zeros(1, dtype=torch.long))
    sizes = []
    for index in (near, far):
        sizes.append(float(signature(encoding, probe.at(index), origin).abs().max()))
    growth = sizes[1] / max(sizes[0], 1e-30)
    message = (
        f"At most {show(sizes[0])} up to position {int(near[-1])}, {show(sizes[1])} up to "
        f"{int(far[-1]):,}."
    )
    return PropertyResult(
        growth <= BOUND,
        show(sizes[1]),
        message,
        {"near": sizes[0], "far": sizes[1], "growth": growth},
    )
