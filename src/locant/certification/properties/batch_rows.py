"""Rows and heads keep to themselves: a batch gives what its rows give one by one, and so does each
head."""

from __future__ import annotations

import torch

from locant.attention import attend
from locant.certification.probe import Probe, PropertyResult, relative, show, states

NAME = "rows"
SENTENCE = (
    "Each row of a batch goes by its own positions and tokens, and each head by its own tokens."
)
CLAIM = "cacheable_keys"
BOUND = 1e-4
WHY = (
    "a row computed alone differs in the order of float32 sums alone; borrowed positions move it "
    "by its full size"
)


def measure(probe: Probe) -> PropertyResult:
    count = min(9, (probe.last + 1) // 2)
    net, x = probe.model(probe.randomized()), probe.tokens(count, batch=3)
    room = probe.last - count + 1
    starts = [0, min(3, room), min(40, room)]
    spread = torch.stack(
        [
            torch.arange(count) * (1 + (start > 0 and probe.last > 2 * count)) + start
            for start in starts
        ]
    )
    pos = probe.at(spread.clamp_max(probe.last))
    own = torch.cat([net(x[row : row + 1], pos[row]) for row in range(3)])
    shared = torch.cat([net(x[row : row + 1], pos[2]) for row in range(3)])
    errors = {"own": relative(net(x, pos), own), "shared": relative(net(x, pos[2]), shared)}
    errors["heads"] = _across_heads(probe, pos[2])
    rows = max(errors["own"], errors["shared"])
    message = f"Rows computed together and alone differ by {show(rows)} of their size."
    if rows > BOUND:
        message += " A row goes by another row's positions or tokens."
    elif errors["heads"] > BOUND:
        message = (
            "Other tokens in the first head move the other heads' outputs by "
            f"{show(errors['heads'])} of their size."
        )
    return PropertyResult(
        all(error <= BOUND for error in errors.values()),
        show(max(errors.values())),
        message,
        errors,
    )


def _across_heads(probe: Probe, pos: torch.Tensor) -> float:
    """How far the outputs of all heads but the first move when the first head's queries, keys and
    values change."""
    if probe.encoding.shape.heads == 1:
        return 0.0
    encoding = probe.randomized()
    tensors = [probe.heads(len(pos), more=seed) for seed in range(3)]
    given = states(encoding, pos)
    others = [torch.cat([-tensor[:, :1], tensor[:, 1:]], 1) for tensor in tensors]
    still, moved = (
        attend(*each, encoding=encoding, q_pos=pos, k_pos=pos, **given)[:, 1:]
        for each in (tensors, others)
    )
    return relative(moved, still)
