"""Each row has its own positions: a batch gives what its rows give one by one."""

from __future__ import annotations

import torch

from locant.subject import Measured, Subject, relative, show

SENTENCE = "Each row of a batch goes by its own positions."
CLAIM = "cacheable_keys"
BOUND = 1e-4
WHY = "a row computed alone differs in the order of float32 sums alone; borrowed positions move it by its full size"


def measure(subject: Subject) -> Measured:
    count = min(9, (subject.last + 1) // 2)
    net, x = subject.model(subject.stirred()), subject.tokens(count, batch=3)
    room = subject.last - count + 1
    starts = [0, min(3, room), min(40, room)]
    spread = torch.stack(
        [torch.arange(count) * (1 + (start > 0 and subject.last > 2 * count)) + start for start in starts]
    )
    pos = subject.at(spread.clamp_max(subject.last))
    together = net(x, pos)
    alone = torch.cat([net(x[row : row + 1], pos[row]) for row in range(3)])
    error = relative(together, alone)
    said = f"Rows computed together and alone differ by {show(error)} of their size."
    return Measured(error <= BOUND, show(error), said, {"error": error})
