"""Reach: does one step still make a difference, 10, 100, 1,000 or 10,000 positions away?"""

from __future__ import annotations

import torch

from locant.certification.probe import BY_ORDER, Probe, PropertyResult, show, signature

NAME = "reach"
SENTENCE = (
    "How little one more step may change what the model gets, at distance 10, 100, 1,000 and "
    "10,000."
)
CLAIM = "seen"
BOUND = 0.0
WHY = "nothing is promised; 0 means that neighbours so far away look the same"


def measure(probe: Probe) -> PropertyResult:
    if not probe.encoding.goes_by_positions:
        return PropertyResult(None, "–", BY_ORDER)
    encoding = probe.randomized()
    origin = probe.at(torch.zeros(1, dtype=torch.long))
    numbers: dict[str, float] = {}
    for distance in (10, 100, 1_000, 10_000):
        if distance + 9 > probe.last:
            break
        rows = signature(encoding, probe.at(torch.arange(distance, distance + 10)), origin)
        size = float(rows.norm(dim=1).mean())
        numbers[str(distance)] = float((rows[1:] - rows[:-1]).norm(dim=1).min()) / max(size, 1e-30)
    if not numbers:
        return PropertyResult(None, "–", "Its positions end before distance 10.")
    listed = ", ".join(f"{show(value)} at {distance}" for distance, value in numbers.items())
    return PropertyResult(
        True,
        show(list(numbers.values())[-1]),
        f"One step changes it by at least {listed} of its size.",
        dict(numbers),
    )
