"""It goes by the positions it is given, not by where a token happens to stand in the tensor."""

from __future__ import annotations

import torch

from locant.subject import Measured, Subject, relative, show

SENTENCE = "It goes by the positions it is given: tokens that keep their positions may stand anywhere."
CLAIM = "law"
BOUND = 1e-4
WHY = "shuffling tokens together with their positions changes the order of float32 sums alone"


def measure(subject: Subject) -> Measured:
    count = min(12, subject.last + 1)
    net, x = subject.model(subject.stirred()), subject.tokens(count)
    net.causal = False  # a causal mask goes by order, as it should
    step = max(1, min(3, subject.last // count))
    pos = subject.at(torch.arange(count) * step)
    shuffle = torch.randperm(count, generator=subject.generator())
    error = relative(net(x[:, shuffle], pos[shuffle]), net(x, pos)[:, shuffle])
    moved = relative(net(x, subject.at(torch.arange(count))), net(x, pos)) if step > 1 else 1.0
    said = f"Tokens shuffled together with their positions move the outputs by {show(error)} of their size."
    ignored = subject.encoding.tells_order and moved < 1e-6
    if ignored:
        said = "Other positions give the same output: the positions given are not used."
    elif error > BOUND:
        said += " It goes by the place in the tensor instead."
    return Measured(error <= BOUND and not ignored, show(error), said, {"error": error, "moved": moved})
