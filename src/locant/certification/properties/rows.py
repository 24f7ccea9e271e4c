"""Rows and heads keep to themselves: a batch gives what its rows give one by one, and so does each head."""

from __future__ import annotations

import torch

from locant.attention import attend
from locant.certification.probe import Measured, Subject, relative, show

SENTENCE = (
    "Each row of a batch goes by its own positions and tokens, and each head by its own tokens."
)
CLAIM = "cacheable_keys"
BOUND = 1e-4
WHY = "a row computed alone differs in the order of float32 sums alone; borrowed positions move it by its full size"


def measure(subject: Subject) -> Measured:
    count = min(9, (subject.last + 1) // 2)
    net, x = subject.model(subject.stirred()), subject.tokens(count, batch=3)
    room = subject.last - count + 1
    starts = [0, min(3, room), min(40, room)]
    spread = torch.stack(
        [
            torch.arange(count) * (1 + (start > 0 and subject.last > 2 * count)) + start
            for start in starts
        ]
    )
    pos = subject.at(spread.clamp_max(subject.last))
    own = torch.cat([net(x[row : row + 1], pos[row]) for row in range(3)])
    shared = torch.cat([net(x[row : row + 1], pos[2]) for row in range(3)])
    errors = {"own": relative(net(x, pos), own), "shared": relative(net(x, pos[2]), shared)}
    errors["heads"] = _across_heads(subject, pos[2])
    rows = max(errors["own"], errors["shared"])
    said = f"Rows computed together and alone differ by {show(rows)} of their size."
    if rows > BOUND:
        said += " A row goes by another row's positions or tokens."
    elif errors["heads"] > BOUND:
        said = f"Other tokens in the first head move the other heads' outputs by {show(errors['heads'])} of their size."
    return Measured(
        all(error <= BOUND for error in errors.values()), show(max(errors.values())), said, errors
    )


def _across_heads(subject: Subject, pos: torch.Tensor) -> float:
    """How far the outputs of all heads but the first move when the first head's queries, keys and values change."""
    if subject.encoding.shape.heads == 1:
        return 0.0
    encoding = subject.stirred()
    tensors = [subject.heads(len(pos), more=seed) for seed in range(3)]
    others = [torch.cat([-tensor[:, :1], tensor[:, 1:]], 1) for tensor in tensors]
    still, moved = (
        attend(*each, encoding=encoding, q_pos=pos, k_pos=pos)[:, 1:] for each in (tensors, others)
    )
    return relative(moved, still)
