"""Longer rows: a tiny decoder that has solved rows of one length is tried on longer ones."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from locant.certification.probe import Probe, PropertyResult
from locant.lab.tasks._sequence_task import IGNORE_INDEX
from locant.lab.tasks.lag import Lag
from locant.lab.training.loop import Groups, train
from locant.nn.transformer import Transformer

TRAINED, SYMBOLS = 32, 8  # the length that is trained on; rows of one of eight symbols a token
CHANCE, CHANCE_LOSS = 1 / SYMBOLS, math.log(SYMBOLS)
SOLVED, FAILED = 0.95, 0.5
RATE, POSITIONAL = (
    3e-3,
    10,
)  # learned positions move ten times as fast: at one rate, most are not solved in time

NAME = "longer"
SENTENCE = (
    f"A tiny decoder that has solved rows of {TRAINED} tokens is tried on rows 2, 4 and 8 times as "
    "long."
)
CLAIM = "seen"
BOUND = (
    f"solved from {SOLVED:.0%} right answers on at the trained length; past it, holds from "
    f"{SOLVED:.0%} on at the longest, "
    f"fails under {FAILED:.0%} at the shortest, degrades in between"
)
WHY = (
    "nothing is promised, and what has not solved its own length is not judged; a guess is right "
    f"in {CHANCE:.1%}"
)


def measure(probe: Probe) -> PropertyResult:
    """The decoder names the symbol before each one. Past the trained length, only answers past it
    count."""
    longer = [times for times in (2, 4, 8) if TRAINED * times <= probe.last + 1]
    if not longer:
        message = (
            f"Not judged: its positions end at {probe.last}, and rows of {2 * TRAINED} tokens are "
            "the shortest tried."
        )
        return PropertyResult(None, "–", message)
    net = _trained(probe)
    own, loss = _tested(net, probe, 1, first=0)
    past = {times: _tested(net, probe, times, first=TRAINED)[0] for times in longer}
    numbers = {
        "accuracy at 1x": own,
        "loss at 1x": loss,
        **{f"accuracy at {k}x": v for k, v in past.items()},
    }
    numbers |= {"solved": SOLVED, "chance": CHANCE, "chance loss": CHANCE_LOSS}
    right = (
        f"{own:.0%} right, loss {loss:.2f}; a guess: {CHANCE:.1%}, {CHANCE_LOSS:.2f}; solved from "
        f"{SOLVED:.0%} on"
    )
    if own < SOLVED:
        message = (
            f"Not judged: in {probe.effort.steps} steps it did not solve its own length, {TRAINED} "
            f"tokens ({right})."
        )
        return PropertyResult(None, "unsolved", message, numbers | {"outcome": "unsolved"})
    outcome = _outcome(list(past.values()))
    listed = ", ".join(f"{share:.0%} at {times}×" for times, share in past.items())
    message = (
        f"It solved its own length, {TRAINED} tokens ({right}). Past that length it {outcome}: "
        f"{listed} right."
    )
    return PropertyResult(True, outcome, message, numbers | {"outcome": outcome})


def _outcome(past: list[float]) -> str:
    """What becomes of it, from the shares of right answers past the trained length, shortest rows
    first.

    >>> _outcome([1.0, 0.99, 0.97]), _outcome([0.97, 0.9, 0.7]), _outcome([0.2, 0.3, 0.3])
    ('holds', 'degrades', 'fails')
    """
    if past[-1] >= SOLVED:
        return "holds"
    return "fails" if past[0] < FAILED else "degrades"


def _trained(probe: Probe) -> Transformer:
    dim = probe.encoding.shape.dim
    embed, head = nn.Embedding(SYMBOLS, dim), nn.Linear(dim, SYMBOLS)
    net = probe.model(probe.original(), causal=True, embed=embed, head=head, ffn=2 * dim)
    task = Lag(length=TRAINED, symbols=SYMBOLS, back=1)
    pos = probe.positions(TRAINED)

    def loss(step: int) -> Tensor:
        rows = task.batch(8, probe.seed, step)
        return task.loss(net(rows.inputs, pos), rows.target)

    with torch.enable_grad():
        train(net, loss, steps=probe.effort.steps, stop_below=0.02, groups=_groups(net))
    return net


def _groups(net: Transformer) -> Groups:
    """The encoding's own parameters with a larger learning rate and no decay; all others as
    usual."""
    own = list(net.encodings.parameters())
    shared = [p for p in net.parameters() if all(p is not one for one in own)]
    return [
        {"params": shared, "lr": RATE},
        {"params": own, "lr": POSITIONAL * RATE, "weight_decay": 0.0},
    ]


def _tested(net: Transformer, probe: Probe, times: int, first: int) -> tuple[float, float]:
    """Accuracy and loss on new rows so many times as long, of the answers from position `first`
    on."""
    task = Lag(length=TRAINED * times, symbols=SYMBOLS, back=1)
    rows = task.sample(32, probe.generator(times))
    target = rows.target.clone()
    target[:, :first] = IGNORE_INDEX
    scores = task.score(net(rows.inputs, probe.positions(task.length)), target)
    return scores["accuracy"], scores["loss"]
