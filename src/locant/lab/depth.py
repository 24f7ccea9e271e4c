"""What stacked layers do with positions: probes, similarity, attention and gradients, layer by
layer.

A stack is trained on `slot`, which only positions solve, and measured before and after:

    probe       share of tokens whose position a linear map of the layer's output names exactly
    similarity  mean cosine between the outputs of two tokens of a row (1: all are the same)
    entropy     of attention weights, as a share of its maximum (1: all tokens are seen alike)
    gradient    norm of the loss's gradient in the layer's parameters
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize, one_hot

from locant._internal.checks import one_of, whole_number
from locant._internal.seeds import stable_seed
from locant.encodings.registry import make
from locant.lab.tasks.base import Batch, generator, make_task
from locant.lab.training.build import matched
from locant.lab.training.loop import train
from locant.nn.transformer import Layer, Transformer
from locant.positions import consecutive

DIM, HEADS, FFN, LENGTH = 64, 4, 128, 32
ENTRY_POINTS = ("input", "every layer")  # where an encoding that adds to tokens does so
PROBE_ROWS, RIDGE = 200, 1e-3
MEASURES = ("probe", "similarity", "entropy", "gradient")


@dataclass(frozen=True)
class DepthRun:
    """One stack: its encoding, how many layers, where positions enter, and what it lacks."""

    encoding: str
    layers: int
    where: str = "input"
    residual: bool = True
    norm: bool = True
    seed: int = 0
    steps: int = 250

    def __post_init__(self) -> None:
        whole_number("a depth run", "layers", self.layers)
        whole_number("a depth run", "steps", self.steps)
        one_of("a depth run", "where", self.where, ENTRY_POINTS)

    @property
    def name(self) -> str:
        """What a page calls the stack: its encoding, where it enters, and what is missing."""
        lacks = "".join([", no residuals"] * (not self.residual) + [", no norms"] * (not self.norm))
        return f"{self.encoding}{', every layer' * (self.where == ENTRY_POINTS[1])}{lacks}"


def planned_runs(seeds: int, depths: Sequence[int] = (2, 4, 8, 12)) -> list[DepthRun]:
    """List the runs of the study: encodings by depth, and two encodings without residuals or
    norms."""
    stacks = [DepthRun(name, 1) for name in ("none", "sinusoidal", "learned", "rotary", "t5")]
    stacks += [DepthRun(name, 1, ENTRY_POINTS[1]) for name in ("sinusoidal", "learned")]
    for name in ("sinusoidal", "rotary"):
        stacks += [DepthRun(name, 1, residual=False), DepthRun(name, 1, norm=False)]
        stacks.append(DepthRun(name, 1, residual=False, norm=False))
    runs = []
    for seed in range(seeds):
        for stack in stacks:
            runs += [replace(stack, layers=layers, seed=seed) for layers in depths]
    return runs


class WithoutResidual(Layer):
    """A layer whose parts replace their input instead of adding to it."""

    def _after(self, x: Tensor, seen: Tensor) -> Tensor:
        return self.network(self.norms[1](seen))


class Stack(nn.Module):
    """A transformer over the tokens of `slot`, with one answer a row."""

    def __init__(self, run: DepthRun, symbols: int, outputs: int) -> None:
        super().__init__()
        encoding = make(run.encoding, dim=DIM, heads=HEADS, length=LENGTH)
        encoding = matched(encoding, LENGTH)
        tokens = nn.Embedding(symbols, DIM)
        each = [encoding] * run.layers if run.where == ENTRY_POINTS[1] else encoding
        self.head = nn.Linear(DIM, outputs)
        self.body = Transformer(each, run.layers, embed=tokens, ffn=FFN)
        if not run.residual:
            whole = list(self.body.layers)
            self.body.layers = nn.ModuleList(_without_residual(layer) for layer in whole)
        if not run.norm:
            self.body.norm = nn.Identity()
            for layer in self.body.layers:
                layer.norms = nn.ModuleList([nn.Identity(), nn.Identity()])

    def forward(self, tokens: Tensor) -> Tensor:
        """Map tokens (B,T) to answers (B,outputs)."""
        return self.head(self.body(tokens, consecutive(tokens.shape[1])).mean(1))

    def outputs_by_layer(self, tokens: Tensor) -> list[Tensor]:
        """Return what enters the first layer, and the output (B,T,D) of every layer."""
        found: list[Tensor] = []
        first = self.body.layers[0]
        hooks = [first.register_forward_pre_hook(lambda _, given: found.append(given[0]))]
        for layer in self.body.layers:
            hooks.append(layer.register_forward_hook(lambda _, given, out: found.append(out)))
        with torch.no_grad():
            self(tokens)
        for hook in hooks:
            hook.remove()
        return found


def _without_residual(layer: nn.Module) -> WithoutResidual:
    """Return the same layer, weights and all, without its residual connections."""
    assert isinstance(layer, Layer)
    shape = layer.attention.shape
    bare = WithoutResidual(shape, "pre", FFN, nn.GELU, None, True, layer.dropout)
    bare.load_state_dict(layer.state_dict())
    return bare


def measure(run: DepthRun) -> dict[str, Any]:
    """Train one stack and return its settings, accuracy and every measure before and after."""
    torch.set_num_threads(1)
    task = make_task("slot", length=LENGTH)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stable_seed("depth", run.seed))
        model = Stack(run, task.symbols, task.outputs)
    test = _rows(task, "test", run.seed)

    def loss_at(step: int) -> Tensor:
        batch = task.batch(32, run.seed, step)
        return cross_entropy(model(batch.inputs), batch.target)

    before = measure_layers(model, test)
    finite = True
    try:
        train(model, loss_at, steps=run.steps, lr=3e-3, warm_up=50, schedule="cosine")
    except FloatingPointError:  # a stack that lacks norms or residuals may leave the numbers
        finite = False
    with torch.no_grad():
        right = (model(test.inputs).argmax(-1) == test.target).double().mean().item()
    after = measure_layers(model, test) if finite else None
    return {**asdict(run), "accuracy": right, "finite": finite, "before": before, "after": after}


def measure_layers(model: Stack, rows: Batch) -> dict[str, list[float]]:
    """Measure every layer of a model; the first probe and similarity are of the input."""
    outputs = model.outputs_by_layer(rows.inputs)
    with torch.no_grad():
        embedded = model.body.forward_with_weights(rows.inputs, consecutive(LENGTH))
    return {
        "probe": [probe_accuracy(out) for out in outputs],
        "similarity": [token_similarity(out) for out in outputs],
        "entropy": [attention_entropy(weights) for weights in embedded.weights],
        "gradient": _gradient_norms(model, rows),
    }


def probe_accuracy(outputs: Tensor) -> float:
    """Fit a linear map from outputs (B,T,D) to positions on half of the rows; its accuracy on the
    rest.

    >>> own = torch.eye(4).expand(10, 4, 4)
    >>> probe_accuracy(own), probe_accuracy(torch.zeros(10, 4, 4))
    (1.0, 0.25)
    """
    rows, length, width = outputs.shape
    scale = outputs[: rows // 2].flatten(0, 1).std(0).clamp(min=1e-9)
    x = torch.cat([outputs / scale, torch.ones(rows, length, 1)], -1).double()
    y = one_hot(torch.arange(length), length).double().expand(rows, -1, -1)
    fit, test = x[: rows // 2].flatten(0, 1), x[rows // 2 :].flatten(0, 1)
    ridge = RIDGE * len(fit) * torch.eye(width + 1).double()
    weights = torch.linalg.solve(fit.T @ fit + ridge, fit.T @ y[: rows // 2].flatten(0, 1))
    named = (test @ weights).argmax(-1).view(-1, length)
    return float((named == torch.arange(length)).double().mean())


def token_similarity(outputs: Tensor) -> float:
    """Return the mean cosine between the outputs (B,T,D) of two different tokens of a row.

    >>> token_similarity(torch.ones(2, 3, 4)), token_similarity(torch.eye(3)[None])
    (1.0, 0.0)
    """
    directions = normalize(outputs, dim=-1)
    length = outputs.shape[1]
    cosines = directions @ directions.mT  # (B, T, T)
    own = cosines.diagonal(dim1=1, dim2=2).sum(-1)
    return float(((cosines.sum((1, 2)) - own) / (length * (length - 1))).mean())


def attention_entropy(weights: Tensor) -> float:
    """Return the mean entropy of attention weights (B,H,T,T), as a share of its maximum.

    >>> even, sharp = torch.full((1, 1, 4, 4), 0.25), torch.eye(4)[None, None]
    >>> round(attention_entropy(even), 6), attention_entropy(sharp)
    (1.0, 0.0)
    """
    entropy = -(weights * weights.clamp(min=1e-30).log()).sum(-1).mean()
    return abs(float(entropy)) / math.log(weights.shape[-1])


def _gradient_norms(model: Stack, rows: Batch) -> list[float]:
    """Return the norm of the loss's gradient in the parameters of each layer."""
    model.zero_grad()
    cross_entropy(model(rows.inputs), rows.target).backward()
    norms = []
    for layer in model.body.layers:
        squares = [p.grad.square().sum() for p in layer.parameters() if p.grad is not None]
        norms.append(float(torch.stack(squares).sum().sqrt()))
    model.zero_grad()
    return norms


def _rows(task: Any, purpose: str, seed: int) -> Batch:
    return task.sample(PROBE_ROWS, generator(f"depth/{purpose}", seed))
