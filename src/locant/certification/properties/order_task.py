"""Solves and fails: on a count-matched task the encoding beats chance, and none does not."""

from __future__ import annotations

from functools import cache

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from locant.certification.probe import Effort, Probe, PropertyResult
from locant.encodings.base import Encoding
from locant.encodings.none import Nothing
from locant.lab.tasks.order import Order
from locant.lab.training.loop import train
from locant.shapes import Shape

NAME = "solves"
SENTENCE = (
    "A tiny encoder learns which of two marks comes first; without positions it stays at chance."
)
CLAIM = "tells_direction"
BOUND = 0.65
WHY = "of 1,000 rows a guess is right in 50% ± 1.6%; 65% is nine standard deviations above"


def measure(probe: Probe) -> PropertyResult:
    if probe.encoding.causal_only:
        return PropertyResult(
            None, "–", "It is meant for causal attention; this is an encoder's task."
        )
    with_it = _accuracy(probe, probe.original())
    without = _without(probe.encoding.shape, probe.encoding.axes, probe.seed, probe.effort)
    message = (
        f"Right in {with_it:.0%} of rows within {probe.effort.steps} steps; without positions in "
        f"{without:.0%}."
    )
    ok = with_it > BOUND and abs(without - 0.5) < 0.08
    return PropertyResult(ok, f"{with_it:.0%}", message, {"accuracy": with_it, "none": without})


@cache
def _without(shape: Shape, axes: int, seed: int, effort: Effort) -> float:
    """The control: the same for every encoding of one shape, so trained once."""
    control = Nothing(shape, axes=axes)
    return _accuracy(Probe(control, seed, effort), control)


def _accuracy(probe: Probe, encoding: Encoding) -> float:
    dim = encoding.shape.dim
    task = Order(length=min(10, probe.last + 1), symbols=6)
    net = probe.model(encoding, embed=nn.Embedding(6, dim), head=nn.Linear(dim, 2), ffn=2 * dim)
    apart = max(
        1, probe.encoding.shape.length // task.length
    )  # rows spread over the length it is made for
    pos = probe.at(torch.arange(task.length) * min(apart, probe.last // task.length))

    def loss(step: int) -> torch.Tensor:
        tokens, label, *_ = task.batch(32, probe.seed, step)
        return cross_entropy(net(tokens, pos).mean(1), label)

    with torch.enable_grad():
        train(net, loss, steps=probe.effort.steps, stop_below=0.1)
    tokens, label, *_ = task.sample(1000, probe.generator(9))
    return float((net(tokens, pos).mean(1).argmax(-1) == label).float().mean())
