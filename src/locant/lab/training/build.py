"""From a run's settings to a model: the same shared weights for every encoding of a seed, and matched scales."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from locant._internal.seeds import stable_seed
from locant.attention.layer import Projections
from locant.encodings.base import Encoding, overrides
from locant.encodings.claims import CLAIMS
from locant.encodings.registry import make
from locant.lab.tasks.base import Task, make_task
from locant.lab.training.config import ModelConfig, RunConfig
from locant.nn.dropout import make_dropout
from locant.nn.transformer import OutputWithWeights, Transformer
from locant.positions import consecutive


class StudyModel(nn.Module):
    """A transformer over tokens or numbers, with one answer a row (the mean over its real tokens) or one a token."""

    def __init__(self, run: RunConfig, task: Task, encoding: Encoding) -> None:
        super().__init__()
        settings = run.model
        self.pool = task.pool
        entrance, self.head = (
            _entrance(task, settings),
            _head(task, settings),
        )  # drawn before what an encoding adds
        self.body = Transformer(
            encoding,
            layers=settings.layers,
            embed=entrance,
            causal=task.causal,
            norm=settings.norm,
            ffn=settings.ffn,
            activation=settings.activation,
            projection_bias=settings.projection_bias,
            dropout=settings.dropout,
            dropout_from=settings.dropout_from,
        )
        if settings.input_dropout == "if added" and not overrides(encoding, "embed"):
            self.body.dropout = nn.Dropout(0.0)

    def forward(
        self, inputs: Tensor, pos: Tensor, real: Tensor | None = None, see: Tensor | None = None
    ) -> Tensor:
        """inputs (B,T) or (B,T,features) at pos; real (B,T) says which tokens count, see (T,T) who sees whom."""
        hidden = self.body(inputs, pos, mask=_mask(real, see))  # (B, T, D)
        return self.head(_mean(hidden, real) if self.pool else hidden)

    def forward_with_weights(
        self, inputs: Tensor, pos: Tensor, real: Tensor | None = None, see: Tensor | None = None
    ) -> OutputWithWeights:
        """The hidden vectors, and the attention weights (B,H,T,T) of every layer."""
        return self.body.forward_with_weights(inputs, pos, mask=_mask(real, see))


def _mask(real: Tensor | None, see: Tensor | None) -> Tensor | None:
    if real is None:
        return see
    return real[:, None, None, :] if see is None else real[:, None, None, :] & see


def _mean(hidden: Tensor, real: Tensor | None) -> Tensor:
    """The mean over tokens that are real, (B,T,D) → (B,D)."""
    if real is None:
        return hidden.mean(1)
    weight = real.to(hidden.dtype)[..., None]
    return (hidden * weight).sum(1) / weight.sum(1).clamp(min=1)


def _entrance(task: Task, settings: ModelConfig) -> nn.Module:
    if not task.symbols:
        return nn.Linear(task.features, settings.dim)
    tokens = nn.Embedding(task.symbols, settings.dim)
    nn.init.normal_(tokens.weight, std=settings.token_size)
    return tokens


def _head(task: Task, settings: ModelConfig) -> nn.Module:
    if not settings.head:
        return nn.Linear(settings.dim, task.outputs)
    wide, drop = (
        settings.head,
        make_dropout("a study's model", settings.dropout, settings.dropout_from),
    )
    return nn.Sequential(
        nn.LayerNorm(settings.dim),
        nn.Linear(settings.dim, wide),
        nn.GELU(),
        drop,
        nn.Linear(wide, task.outputs),
    )


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


def build(run: RunConfig, task: Task) -> StudyModel:
    """The model of a run. What is shared starts the same for every encoding of a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stable_seed("encoding", run.seed))
        encoding = _encoding(run, task)
        if run.match_scale:
            encoding = matched(encoding, task.length)
        torch.manual_seed(stable_seed("weights", run.seed))
        model = StudyModel(run, task, encoding)
        if run.model.initialisation == "xavier":
            torch.manual_seed(
                stable_seed("xavier", run.seed)
            )  # not after what an encoding alone has drawn
            start_xavier(model)
        return model


@torch.no_grad()
def start_xavier(model: StudyModel) -> None:
    """Draw attention's projections and the output head anew: weights ~ U(±√(6 / (in + out))), biases 0.

    Queries, keys and values are one matrix here, but each is drawn by its own width. Glorot and Bengio 2010.
    """
    for part in model.body.modules():
        if isinstance(part, Projections):
            _draw_xavier(part.qkv, matrices=3)
            _draw_xavier(part.out)
    for part in model.head.modules():
        if isinstance(part, nn.Linear):
            _draw_xavier(part)


def _draw_xavier(layer: nn.Linear, matrices: int = 1) -> None:
    """Draw a layer that holds so many matrices of one shape, one below the other."""
    for weight in layer.weight.chunk(matrices):
        nn.init.xavier_uniform_(weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def learns(run: RunConfig) -> bool:
    """Whether the encoding of a run has anything to learn."""
    return any(
        tensor.requires_grad
        for tensor in _encoding(run, make_task(run.task, **run.task_options)).parameters()
    )


def tells_direction(run: RunConfig) -> bool:
    """Whether the encoding of a run, with its options, says that before and after differ."""
    return bool(_encoding(run, make_task(run.task, **run.task_options)).tells_direction)


def _encoding(run: RunConfig, task: Task) -> Encoding:
    return make(
        run.encoding, dim=run.model.dim, heads=run.model.heads, length=task.reach, **run.options
    )


def matched(encoding: Encoding, length: int) -> Encoding:
    """The encoding with what it adds to the input brought to a root mean square of 1; others as they are."""
    hooks = [
        hook for hook in ("embed", "rotate", "bias", "rescore", "mix") if overrides(encoding, hook)
    ]
    if hooks != ["embed"] or encoding.added_width:
        return encoding
    pos, some = (
        consecutive(length),
        torch.linspace(-1, 1, length * encoding.shape.dim).view(1, length, -1),
    )
    with torch.no_grad():
        trial = copy.deepcopy(encoding).eval()
        added = trial.embed(torch.zeros_like(some), pos)
        adds = torch.allclose(
            trial.embed(some, pos), some + added, atol=1e-5
        )  # a product or a mixture is left alone
    size = float(added.square().mean().sqrt())
    return Scaled(encoding, 1 / size) if adds and size > 0 else encoding


def positional_factor(model: StudyModel) -> float:
    """By how much the encoding's addition is multiplied: its learning rate is divided by it."""
    encoding = model.body.encodings[0]
    return encoding.factor if isinstance(encoding, Scaled) else 1.0
