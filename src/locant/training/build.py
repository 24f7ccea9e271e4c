"""From a run's settings to a model: the same shared weights for every encoding of a seed, and matched scales."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from locant.catalog import make
from locant.claims import CLAIMS
from locant.encodings.base import Encoding, overrides
from locant.model import Transformer
from locant.positions import consecutive
from locant.tasks.base import Task
from locant.training.config import RunConfig, stable_seed


class Classifier(nn.Module):
    """A transformer over tokens with one answer a row (the mean over tokens), or one a token."""

    def __init__(self, run: RunConfig, task: Task, encoding: Encoding) -> None:
        super().__init__()
        shape, model = run.model, run.model
        self.pool = task.pool
        self.body = Transformer(
            encoding,
            layers=model.layers,
            embed=nn.Embedding(task.symbols, shape.dim),  # tokens have a size (root mean square) of 1
            causal=task.causal,
            norm=model.norm,
            ffn=model.ffn,
            activation=model.activation,
            dropout=model.dropout,
        )
        self.head = nn.Linear(shape.dim, task.outputs)

    def forward(self, tokens: Tensor, pos: Tensor) -> Tensor:
        hidden = self.body(tokens, pos)
        return self.head(hidden.mean(1) if self.pool else hidden)


class Scaled(Encoding):
    """An encoding whose addition to the input is multiplied by a constant, all else as it is."""

    def __init__(self, inner: Encoding, factor: float) -> None:
        super().__init__(inner.shape)
        self.inner, self.factor = inner, factor
        self.axes, self.added_width = inner.axes, inner.added_width
        for claim in CLAIMS:
            setattr(self, claim, getattr(inner, claim))

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        return x + self.factor * (self.inner.embed(torch.zeros_like(x), pos))


def build(run: RunConfig, task: Task) -> Classifier:
    """The model of a run. What is shared starts the same for every encoding of a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stable_seed("encoding", run.seed))
        encoding = make(run.encoding, dim=run.model.dim, heads=run.model.heads, length=task.length, **run.options)
        if run.match_scale:
            encoding = matched(encoding, task.length)
        torch.manual_seed(stable_seed("weights", run.seed))
        return Classifier(run, task, encoding)


def matched(encoding: Encoding, length: int) -> Encoding:
    """The encoding with what it adds to the input brought to a root mean square of 1; others as they are."""
    doors = [door for door in ("embed", "rotate", "bias", "rescore", "mix") if overrides(encoding, door)]
    if doors != ["embed"] or encoding.added_width:
        return encoding
    zeros = torch.zeros(1, length, encoding.shape.dim)
    with torch.no_grad():
        size = float(copy.deepcopy(encoding).eval().embed(zeros, consecutive(length)).square().mean().sqrt())
    return encoding if size == 0 else Scaled(encoding, 1 / size)


def positional_factor(model: Classifier) -> float:
    """By how much the encoding's addition is multiplied: its learning rate is divided by it."""
    encoding = model.body.encodings[0]
    return encoding.factor if isinstance(encoding, Scaled) else 1.0
