"""The loop that tutorials have: a DataLoader, attention written out, torch's dropout, one model
after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from locant.lab.study import Study
from locant.lab.tasks.base import Task, make_task
from locant.lab.training.config import ModelConfig


class Layer(nn.Module):
    """Attention as tutorials write it: three projections, scores, softmax, dropout."""

    def __init__(self, settings: ModelConfig) -> None:
        super().__init__()
        dim, drop = settings.dim, settings.dropout
        self.heads, self.norm_first = settings.heads, settings.norm == "pre"
        self.q, self.k, self.v, self.out = (
            nn.Linear(dim, dim, bias=settings.projection_bias) for _ in range(4)
        )
        activation = {"gelu": nn.GELU, "relu": nn.ReLU}[settings.activation]
        self.network = nn.Sequential(
            nn.Linear(dim, settings.ffn),
            activation(),
            nn.Dropout(drop),
            nn.Linear(settings.ffn, dim),
        )
        self.first, self.second = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.dropout = nn.Dropout(drop)

    def attend(self, x: Tensor, real: Tensor) -> Tensor:
        rows, length, dim = x.shape
        q, k, v = (
            part(x).view(rows, length, self.heads, -1).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(dim // self.heads)
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return self.out((weights @ v).transpose(1, 2).contiguous().view(rows, length, dim))

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        if self.norm_first:
            x = x + self.dropout(self.attend(self.first(x), real))
            return x + self.dropout(self.network(self.second(x)))
        x = self.first(x + self.dropout(self.attend(x, real)))
        return self.second(x + self.dropout(self.network(x)))


class Model(nn.Module):
    """The published model with a sinusoidal table."""

    table: Tensor

    def __init__(self, settings: ModelConfig, task: Task) -> None:
        super().__init__()
        self.pool, dim = task.pool, settings.dim
        self.entrance = (
            nn.Embedding(task.symbols, dim) if task.symbols else nn.Linear(task.features, dim)
        )
        angle = torch.arange(task.length)[:, None] / 10_000 ** (torch.arange(0, dim, 2) / dim)
        self.register_buffer("table", torch.stack([angle.sin(), angle.cos()], -1).flatten(1))
        self.dropout = nn.Dropout(settings.dropout)
        self.layers = nn.ModuleList(Layer(settings) for _ in range(settings.layers))
        self.norm = nn.LayerNorm(dim) if settings.norm == "pre" else nn.Identity()
        wide = (
            [nn.LayerNorm(dim), nn.Linear(dim, settings.head), nn.GELU(), self.dropout]
            if settings.head
            else []
        )
        self.head = nn.Sequential(*wide, nn.Linear(settings.head or dim, task.outputs))

    def forward(self, inputs: Tensor, real: Tensor) -> Tensor:
        x = self.dropout(self.entrance(inputs) + self.table)
        for layer in self.layers:
            x = layer(x, real)
        x = self.norm(x)
        if self.pool:
            weight = real.float()[..., None]
            x = (x * weight).sum(1) / weight.sum(1)
        return self.head(x)


class Loop:
    """A model of a published study, and what trains it: batches that a DataLoader shuffles, AdamW,
    clipped gradients."""

    def __init__(self, study: Study, seed: int) -> None:
        torch.manual_seed(seed)
        self.task, self.settings, self.seed = make_task(study.task), study.training, seed
        self.model = Model(study.model, self.task)
        rate, decay = self.settings.rate, self.settings.weight_decay
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=rate, weight_decay=decay)
        batches = [
            self.task.batch(self.settings.batch, seed, step)
            for step in range(self.settings.validate_every)
        ]
        real = torch.cat(
            [_all(b.inputs) if b.padding_mask is None else b.padding_mask for b in batches]
        )
        rows = TensorDataset(
            torch.cat([b.inputs for b in batches]), torch.cat([b.target for b in batches]), real
        )
        self.loader = DataLoader(rows, batch_size=self.settings.batch, shuffle=True)

    def train(self, steps: int, after_each: Callable[[], None] = lambda: None) -> None:
        """So many steps, and what follows each epoch."""
        for left in range(steps, 0, -len(self.loader)):
            self.model.train()
            for inputs, target, mask in islice(self.loader, left):
                self.optimizer.zero_grad()
                self.task.loss(self.model(inputs, mask), target).backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
                self.optimizer.step()
            after_each()

    def validate(self) -> None:
        self.task.validate(self._predict, self.settings.validation, self.seed)

    def test(self) -> None:
        self.task.test(self._predict, self.settings.test, self.seed)

    def _predict(
        self, inputs: Tensor, real: Tensor | None, times: Tensor | None = None, /
    ) -> Tensor:
        self.model.eval()
        rows = TensorDataset(inputs, _all(inputs) if real is None else real)
        with torch.no_grad():
            return torch.cat(
                [self.model(*part) for part in DataLoader(rows, batch_size=self.settings.batch)]
            )


def train(study: Study, seed: int) -> None:
    """One model of a published study, trained, validated and tested the plain way."""
    loop = Loop(study, seed)
    loop.train(study.training.steps, after_each=loop.validate)
    loop.test()


def _all(inputs: Tensor) -> Tensor:
    return torch.ones(inputs.shape[:2], dtype=torch.bool)
