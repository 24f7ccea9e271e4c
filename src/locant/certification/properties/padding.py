"""Padding and packing change nothing: a row gives the same alone, padded left or right, and packed with others."""

from __future__ import annotations

import torch

from locant import positions
from locant.certification.probe import Measured, Subject, relative, show

SENTENCE = "A row gives the same alone, padded on either side, and packed with others."
CLAIM = "cacheable_keys"
BOUND = 1e-4
WHY = "padding is hidden and its positions are given, so only the order of float32 sums differs"


def measure(subject: Subject) -> Measured:
    count = min(6, subject.last)
    errors = {}
    for causal in (False, True):
        net = subject.model(subject.stirred(), causal=causal)
        x, pad = subject.tokens(count, batch=1), subject.tokens(3, batch=1, more=1)
        alone = net(x, subject.places(count))[0]
        for side in ("left", "right"):
            real = torch.tensor([[side == "right"] * count + [side == "left"] * 3])
            real = torch.cat([torch.full((1, 3), False), torch.full((1, count), True)], 1)
            real = real if side == "left" else real.flip(1)
            row = torch.cat([pad, x] if side == "left" else [x, pad], 1)
            out = net(row, subject.at(positions.from_mask(real)), mask=real[:, None, None, :])
            errors[f"{side}, {'causal' if causal else 'open'}"] = relative(out[real], alone)
        pack = positions.packed([3, count])
        out = net(torch.cat([pad, x], 1), subject.at(pack.positions), mask=pack.mask)
        errors[f"packed, {'causal' if causal else 'open'}"] = relative(out[0, 3:], alone)
    worst = max(errors, key=errors.__getitem__)
    bad = errors[worst] > BOUND
    said = f"Outputs differ by at most {show(errors[worst])} of their size" + (
        f", when {worst}." if bad else "."
    )
    return Measured(not bad, show(errors[worst]), said, errors)
