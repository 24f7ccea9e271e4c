"""Build the model of a run: for one seed all encodings share their initial weights, and additions
are matched in scale."""

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

HOOKS = ("embed", "rotate", "bias", "state_bias", "rescore", "mix")


class StudyModel(nn.Module):
    """A transformer over tokens or numbers, with one output a row (the mean over its tokens) or one
    a token."""

    def __init__(self, run: RunConfig, task: Task, encoding: Encoding) -> None:
        super().__init__()
        settings = run.model
        self.pool = task.pool
        # Both are drawn before anything that an encoding adds, so that they are the same for all.
        embed = _input_layer(task, settings)
        self.head = _output_head(task, settings)
        self.body = Transformer(
            encoding,
            layers=settings.layers,
            embed=embed,
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
        self,
        inputs: Tensor,
        pos: Tensor,
        padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
    ) -> Tensor:
        """Map inputs (B,T) or (B,T,features) at positions pos to outputs (B,outputs) or
        (B,T,outputs).

        padding_mask  (B,T), True for tokens that count, False for padding
        attn_mask     (T,T), True where a query may see a key
        """
        hidden = self.body(inputs, pos, mask=_joint_mask(padding_mask, attn_mask))  # (B, T, D)
        return self.head(_mean(hidden, padding_mask) if self.pool else hidden)

    def forward_with_weights(
        self,
        inputs: Tensor,
        pos: Tensor,
        padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
    ) -> OutputWithWeights:
        """Return the hidden vectors (B,T,D), and the attention weights (B,H,T,T) of every layer."""
        return self.body.forward_with_weights(
            inputs, pos, mask=_joint_mask(padding_mask, attn_mask)
        )


def _joint_mask(padding_mask: Tensor | None, attn_mask: Tensor | None) -> Tensor | None:
    """Join a padding mask (B,T) and an attention mask (T,T) to one that broadcasts to (B,H,T,T)."""
    if padding_mask is None:
        return attn_mask
    keys = padding_mask[:, None, None, :]
    return keys if attn_mask is None else keys & attn_mask


def _mean(hidden: Tensor, padding_mask: Tensor | None) -> Tensor:
    """Take the mean over the tokens of a row without its padding: (B,T,D) → (B,D)."""
    if padding_mask is None:
        return hidden.mean(1)
    weight = padding_mask.to(hidden.dtype)[..., None]
    return (hidden * weight).sum(1) / weight.sum(1).clamp(min=1)


def _input_layer(task: Task, settings: ModelConfig) -> nn.Module:
    """Make the layer that turns tokens or numbers into vectors of the model's width."""
    if not task.symbols:
        return nn.Linear(task.features, settings.dim)
    tokens = nn.Embedding(task.symbols, settings.dim)
    nn.init.normal_(tokens.weight, std=settings.token_size)
    return tokens


def _output_head(task: Task, settings: ModelConfig) -> nn.Module:
    """Make the output head: one linear layer, or two with a hidden layer of width
    `settings.head`."""
    if not settings.head:
        return nn.Linear(settings.dim, task.outputs)
    return nn.Sequential(
        nn.LayerNorm(settings.dim),
        nn.Linear(settings.dim, settings.head),
        nn.GELU(),
        make_dropout("a study's model", settings.dropout, settings.dropout_from),
        nn.Linear(settings.head, task.outputs),
    )


class Scaled(Encoding):
    """An encoding whose addition to the input is multiplied by a constant."""

    def __init__(self, inner: Encoding, factor: float) -> None:
        super().__init__(inner.shape)
        self.inner, self.factor = inner, factor
        self.axes, self.added_width = inner.axes, inner.added_width
        for claim in CLAIMS:
            setattr(self, claim, getattr(inner, claim))

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        """Add the inner encoding's addition, times the factor, to x (B,T,D)."""
        return x + self.factor * (self.inner.embed(torch.zeros_like(x), pos))


def build(run: RunConfig, task: Task) -> StudyModel:
    """Build the model of a run. All shared weights start the same for every encoding of a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stable_seed("encoding", run.seed))
        encoding = _make_encoding(run, task)
        if run.match_scale:
            encoding = matched(encoding, task.length)
        torch.manual_seed(stable_seed("weights", run.seed))
        model = StudyModel(run, task, encoding)
        if run.model.initialisation == "xavier":
            # A seed of its own: what was drawn before depends on the encoding.
            torch.manual_seed(stable_seed("xavier", run.seed))
            start_xavier(model)
        return model


@torch.no_grad()
def start_xavier(model: StudyModel) -> None:
    """Draw attention's projections and the output head anew: weights ~ U(±√(6 / (in + out))),
    biases 0.

    Queries, keys and values are one matrix here, but each third is drawn by its own width.
    Glorot and Bengio 2010.
    """
    for module in model.body.modules():
        if isinstance(module, Projections):
            _draw_xavier(module.qkv, matrices=3)
            _draw_xavier(module.out)
    for module in model.head.modules():
        if isinstance(module, nn.Linear):
            _draw_xavier(module)


def _draw_xavier(layer: nn.Linear, matrices: int = 1) -> None:
    """Draw a layer whose weight holds several matrices of one shape, one below the other."""
    for weight in layer.weight.chunk(matrices):
        nn.init.xavier_uniform_(weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def learns(run: RunConfig) -> bool:
    """Say whether the encoding of a run has parameters to learn."""
    encoding = _make_encoding(run, make_task(run.task, **run.task_options))
    return any(tensor.requires_grad for tensor in encoding.parameters())


def tells_direction(run: RunConfig) -> bool:
    """Say whether the encoding of a run, with its options, claims to tell before from after."""
    encoding = _make_encoding(run, make_task(run.task, **run.task_options))
    return bool(encoding.tells_direction)


def _make_encoding(run: RunConfig, task: Task) -> Encoding:
    dim, heads = run.model.dim, run.model.heads
    return make(run.encoding, dim=dim, heads=heads, length=task.max_length, **run.options)


def matched(encoding: Encoding, length: int) -> Encoding:
    """Scale an encoding's addition to the input to a root mean square of 1; other encodings stay as
    they are."""
    hooks = [hook for hook in HOOKS if overrides(encoding, hook)]
    if hooks != ["embed"] or encoding.added_width:
        return encoding
    pos = consecutive(length)
    x = torch.linspace(-1, 1, length * encoding.shape.dim).view(1, length, -1)
    with torch.no_grad():
        trial = copy.deepcopy(encoding).eval()
        added = trial.embed(torch.zeros_like(x), pos)
        # A product or a mixture is no addition, and is left alone.
        adds = torch.allclose(trial.embed(x, pos), x + added, atol=1e-5)
    size = float(added.square().mean().sqrt())
    return Scaled(encoding, 1 / size) if adds and size > 0 else encoding


def positional_factor(model: StudyModel) -> float:
    """Return the factor of the encoding's addition, by which its learning rate is divided."""
    encoding = model.body.encodings[0]
    return encoding.factor if isinstance(encoding, Scaled) else 1.0
