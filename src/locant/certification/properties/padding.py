"""Padding and packing change nothing: a row gives the same alone, padded left or right, and packed
with others."""

from __future__ import annotations

import torch

from locant import positions
from locant.certification.probe import Probe, PropertyResult, relative, show

NAME = "padding"
SENTENCE = "A row gives the same alone, padded on either side, and packed with others."
CLAIM = "cacheable_keys"
BOUND = 1e-4
WHY = "padding is hidden and its positions are given, so only the order of float32 sums differs"


def measure(probe: Probe) -> PropertyResult:
    count = min(6, probe.last)
    errors = {}
    for causal in (False, True):
        net = probe.model(probe.randomized(), causal=causal)
        x, pad = probe.tokens(count, batch=1), probe.tokens(3, batch=1, more=1)
        alone = net(x, probe.positions(count))[0]
        for side in ("left", "right"):
            is_left = side == "left"
            parts = [torch.full((1, 3), False), torch.full((1, count), True)]
            padding_mask = torch.cat(parts if is_left else parts[::-1], 1)  # True: a token
            row = torch.cat([pad, x] if is_left else [x, pad], 1)
            pos = probe.at(positions.from_mask(padding_mask))
            out = net(row, pos, mask=padding_mask[:, None, None, :])
            error = relative(out[padding_mask], alone)
            errors[f"{side}, {'causal' if causal else 'open'}"] = error
        pack = positions.packed([3, count])
        out = net(torch.cat([pad, x], 1), probe.at(pack.positions), mask=pack.mask)
        errors[f"packed, {'causal' if causal else 'open'}"] = relative(out[0, 3:], alone)
    worst = max(errors, key=errors.__getitem__)
    bad = errors[worst] > BOUND
    message = f"Outputs differ by at most {show(errors[worst])} of their size" + (
        f", when {worst}." if bad else "."
    )
    return PropertyResult(not bad, show(errors[worst]), message, errors)
