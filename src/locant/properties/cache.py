"""A cache gives what a full pass gives: keys turned once stay right when more tokens come."""

from __future__ import annotations

from itertools import pairwise

import torch

from locant.subject import Measured, Subject, relative, show

SENTENCE = "Going on from cached keys gives what a full pass gives."
CLAIM = "cacheable_keys"
BOUND = 1e-4
WHY = "the two differ in the order of float32 sums alone"


def measure(subject: Subject) -> Measured:
    count = min(24, subject.last + 1)
    net = subject.model(subject.stirred(), causal=True)
    start = min(1000, subject.last - count + 1)
    x, pos = subject.tokens(count), subject.places(count, start)
    full, caches, outs = net(x, pos), None, []
    cuts = [0, count // 2, count // 2 + 1, count - 1, count]
    for begin, end in pairwise(cuts):
        out, caches = net.step(x[:, begin:end], pos[begin:end], caches)
        outs.append(out)
    error = relative(torch.cat(outs, 1), full)
    said = f"Outputs differ by {show(error)} of their size between a cache and a full pass of {count} tokens."
    return Measured(error <= BOUND, show(error), said, {"error": error})
