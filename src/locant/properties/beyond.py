"""Beyond its length: works, degrades or refuses; and what a tiny model trained short does on longer rows."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from locant.encodings.base import Encoding
from locant.subject import FAR, Measured, Subject, show, signature
from locant.tasks.base import Batch
from locant.tasks.lag import Lag
from locant.training.loop import train

SENTENCE = "It has a value at any position, also past the length it was made for."
CLAIM = "extrapolates"
BOUND = "finite values to position 10⁶; or a refusal. Never the value of another position"
WHY = "a table that gives its last vector to every later position would look as if it worked"


def measure(subject: Subject) -> Measured:
    length = subject.encoding.shape.length
    encoding = subject.stirred()
    past = subject.at(torch.tensor([length, length + 5, 4 * length, FAR + 1]))
    for outside, start in ((length + 5, length), (-1, 0)):
        owner = _owner(subject, encoding, outside, start)
        if owner is not None:
            said = f"Position {outside} is given the value of position {owner} in silence."
            return Measured(None, "clips", said, {"clips": True})
    try:
        values = signature(encoding, past, past[:1])
    except (ValueError, IndexError) as problem:
        said = f"Refuses past position {length - 1}: {str(problem).splitlines()[0]}"
        return Measured(False, "refuses", said, {"outcome": "refuses"})
    finite = bool(torch.isfinite(values).all())
    losses = _losses(subject)
    listed = ", ".join(f"{show(loss)} at {times}×" for times, loss in losses.items())
    first = next(iter(losses.values()))
    outcome = "works" if list(losses.values())[-1] < 1.5 * first + 0.1 else "degrades"
    said = f"Gives {'finite' if finite else 'NON-FINITE'} values past {length}. A tiny decoder trained on rows of 16 (which "
    said += f"symbol stood 3 back?) {outcome} on longer ones: loss {listed}."
    return Measured(finite, outcome, said, {"outcome": outcome, **{f"loss {k}x": v for k, v in losses.items()}})


def _owner(subject: Subject, encoding: Encoding, outside: int, start: int) -> int | None:
    """The position inside whose value one outside is given, seen from many keys; None when it has its own or none."""
    length = encoding.shape.length
    if not encoding.tells_order:
        return None
    ends = torch.cat([torch.arange(min(length, 64)), torch.arange(max(0, length - 64), length)]).unique()
    inside = ends if outside >= 0 else ends[-1:]  # before 0 a table's end is what a negative index gives
    keys = subject.at(torch.arange(start, start + min(640, length)))  # so many that no mirror image looks alike
    try:
        row = signature(encoding, subject.at(torch.tensor([outside])), keys)
    except (ValueError, IndexError):
        return None
    same = (signature(encoding, subject.at(inside), keys) == row).all(1).nonzero()
    return int(inside[same[0]]) if len(same) else None


def _losses(subject: Subject) -> dict[int, float]:
    """Loss at 1, 2, 4 and 8 times the training length."""
    dim, short = subject.encoding.shape.dim, 16
    task = Lag(length=short, symbols=8, back=3)
    net = subject.model(
        subject.as_given(), causal=True, embed=nn.Embedding(8, dim), head=nn.Linear(dim, 8), ffn=2 * dim
    )

    def loss(task: Lag, rows: Batch) -> torch.Tensor:
        tokens, target, *_ = rows
        return cross_entropy(net(tokens, subject.places(task.length)).flatten(0, 1), target.flatten())

    with torch.enable_grad():
        train(
            net,
            lambda step: loss(task, task.batch(16, subject.seed, step)),
            steps=subject.effort.steps // 2,
            enough=0.02,
        )
    longer = {}
    for times in (1, 2, 4, 8):
        far = Lag(length=short * times, symbols=8, back=3)
        longer[times] = float(loss(far, far.sample(32, subject.generator(times))))
    return longer
