"""A plain transformer that takes one encoding for all its layers, or one for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from locant._internal.checks import one_of, warn_renamed, whole_number
from locant.attention.inputs import AttentionInputs, prepare, prepare_step
from locant.attention.kv_cache import Cache
from locant.attention.layer import Projections, cached_tokens, check_cache
from locant.attention.validation import check_tokens, need_encoding
from locant.encodings.base import Encoding
from locant.nn.dropout import make_dropout
from locant.positions import Mask, densify
from locant.shapes import Shape

NORMS = ("pre", "post")
ACTIVATIONS: dict[str, type[nn.Module]] = {"gelu": nn.GELU, "relu": nn.ReLU}


class OutputWithWeights(NamedTuple):
    """The output, and the attention weights (B,H,T,T) of every layer."""

    out: Tensor
    weights: list[Tensor]


class Transformer(nn.Module):
    """Attention and feed-forward layers around an encoding: (B,T,·) → (B,T,·).

    encoding    one for all layers (its `embed` acts once, on the input), or a list with one for
                each layer (its `embed` acts on that layer's input); the same object may be
                listed several times
    layers      how many; may be left out when a list is given
    embed       what turns tokens or features into (B,T,D), such as nn.Embedding(256, 64); nothing
                by default
    head        what the output goes through, such as nn.Linear(64, 256); nothing by default
    norm        "pre" (before each part, and once at the end) or "post" (after each sum)
    causal      a decoder (True) or an encoder (False)
    dropout     the share that is dropped in training, with numbers that are "fresh" (torch's), or
                quicker: "bits", "pool"

    >>> rope = make("rotary", dim=32, heads=4)
    >>> model = Transformer(rope, layers=2, embed=torch.nn.Embedding(10, 32))
    >>> model(torch.randint(10, (2, 7)), locant.positions.consecutive(7)).shape
    torch.Size([2, 7, 32])
    """

    def __init__(
        self,
        encoding: Encoding | Sequence[Encoding],
        layers: int | None = None,
        *,
        embed: nn.Module | None = None,
        head: nn.Module | None = None,
        causal: bool = False,
        norm: str = "pre",
        ffn: int | None = None,
        activation: str = "gelu",
        kv_heads: int | None = None,
        projection_bias: bool = True,
        dropout: float = 0.0,
        dropout_from: str = "fresh",
    ) -> None:
        super().__init__()
        each = _one_for_each_layer(encoding, layers)
        self.shape, self.causal = each[0].shape, causal
        self.per_layer = not isinstance(encoding, Encoding)
        unique = list(dict.fromkeys(each))
        self.encodings = nn.ModuleList(unique)  # each once, so that no weight is stored twice
        self.uses = [unique.index(one) for one in each]
        self.embed = nn.Identity() if embed is None else embed
        self.head = nn.Identity() if head is None else head
        self.norm = (
            nn.LayerNorm(self.shape.dim)
            if one_of("Transformer", "norm", norm, NORMS) == "pre"
            else nn.Identity()
        )
        self.dropout = make_dropout("Transformer", dropout, dropout_from)
        one_of("Transformer", "activation", activation, ACTIVATIONS)
        wide = 4 * self.shape.dim if ffn is None else whole_number("Transformer", "ffn", ffn)
        acting = each if self.per_layer else each[:1]
        self.layers = nn.ModuleList(
            Layer(
                self.shape,
                norm,
                wide,
                ACTIVATIONS[activation],
                kv_heads,
                projection_bias,
                self.dropout,
            )
            for _ in each
        )
        self.fuse = nn.ModuleList(
            _fuse(one) for one in acting
        )  # drawn last: all else is the same for every encoding

    def forward(self, x: Tensor, pos: Tensor, *, mask: Mask | None = None) -> Tensor:
        """Tokens at positions pos (T) or (B,T); mask as in `attend`."""
        x, mask = self._start(x, pos, mask)
        inputs = [
            prepare(e, pos, pos, like=x, causal=self.causal, mask=mask) for e in self._encodings()
        ]
        for index, layer in enumerate(self._layers()):
            x = layer(self._enter(index, x, pos), inputs[self.uses[index]])
        return self.head(self.norm(x))

    def forward_with_weights(
        self, x: Tensor, pos: Tensor, *, mask: Mask | None = None
    ) -> OutputWithWeights:
        """Return the output of `forward` and the attention weights (B,H,T,T) of every layer."""
        x, mask = self._start(x, pos, mask)
        mask = densify(mask, x)
        inputs = [
            prepare(e, pos, pos, like=x, causal=self.causal, mask=mask) for e in self._encodings()
        ]
        all_weights = []
        for index, layer in enumerate(self._layers()):
            entered = self._enter(index, x, pos)
            x, weights = layer.forward_with_weights(entered, inputs[self.uses[index]])
            all_weights.append(weights)
        return OutputWithWeights(self.head(self.norm(x)), all_weights)

    def look(self, x: Tensor, pos: Tensor, *, mask: Mask | None = None) -> OutputWithWeights:
        """Return what `forward_with_weights` returns; the earlier name of it."""
        warn_renamed("Transformer.look", "Transformer.forward_with_weights")
        return self.forward_with_weights(x, pos, mask=mask)

    def step(
        self,
        x: Tensor,
        pos: Tensor,
        caches: list[Cache] | None = None,
        *,
        mask: Mask | None = None,
    ) -> tuple[Tensor, list[Cache]]:
        """Run new tokens of a causal model over the caches: the output, and the new caches."""
        if not self.causal:
            raise ValueError(
                "only a causal model can go on from a cache. Make it with causal=True."
            )
        if caches is not None and len(caches) != len(self.layers):
            raise ValueError(
                f"there are {len(caches)} caches for a model of {len(self.layers)} layers: one "
                "each is needed."
            )
        first = caches[0] if caches else None
        x, mask = self._start(x, pos, mask, cached_tokens(first))
        check_cache(first, x)
        before = None if first is None else first.pos
        inputs = [prepare_step(e, pos, before, like=x, mask=mask) for e in self._encodings()]
        new = []
        for index, layer in enumerate(self._layers()):
            old = None if caches is None else caches[index]
            x, cache = layer.step(self._enter(index, x, pos), inputs[self.uses[index]], old)
            new.append(cache)
        return self.head(self.norm(x)), new

    def _encodings(self) -> list[Encoding]:
        return list(self.encodings)  # type: ignore[arg-type]

    def _layers(self) -> list[Layer]:
        return list(self.layers)  # type: ignore[arg-type]

    def _start(
        self, x: Tensor, pos: Tensor, mask: Mask | None, cached: int = 0
    ) -> tuple[Tensor, Mask | None]:
        """Embed the input and check it; give the mask four dimensions."""
        x = self.embed(x)
        for encoding in self._encodings():
            mask = check_tokens(encoding, x, pos, mask, cached=cached)
        if not self.per_layer:
            x = self._embed(0, x, pos)
        return self.dropout(x), mask

    def _enter(self, index: int, x: Tensor, pos: Tensor) -> Tensor:
        return self._embed(index, x, pos) if self.per_layer else x

    def _embed(self, index: int, x: Tensor, pos: Tensor) -> Tensor:
        encoding = self._encodings()[self.uses[index]]
        return self.fuse[index](encoding.embed(x, pos))


class Layer(nn.Module):
    """Attention, then a feed-forward network, each with a residual and a norm."""

    def __init__(
        self,
        shape: Shape,
        norm: str,
        ffn: int,
        activation: type[nn.Module],
        kv_heads: int | None,
        projection_bias: bool,
        drop: nn.Dropout,
    ) -> None:
        super().__init__()
        self.norm_first = norm == "pre"
        self.attention = Projections(
            shape, kv_heads=kv_heads, projection_bias=projection_bias, drop=drop
        )
        self.network = nn.Sequential(
            nn.Linear(shape.dim, ffn), activation(), drop, nn.Linear(ffn, shape.dim)
        )
        self.norms = nn.ModuleList([nn.LayerNorm(shape.dim), nn.LayerNorm(shape.dim)])
        self.dropout = drop

    def forward(self, x: Tensor, inputs: AttentionInputs) -> Tensor:
        return self._after(x, self.attention(self._before(x), inputs))

    def forward_with_weights(self, x: Tensor, inputs: AttentionInputs) -> tuple[Tensor, Tensor]:
        seen, weights = self.attention.forward_with_weights(self._before(x), inputs)
        return self._after(x, seen), weights

    def step(self, x: Tensor, inputs: AttentionInputs, cache: Cache | None) -> tuple[Tensor, Cache]:
        seen, cache = self.attention.step(self._before(x), inputs, cache)
        return self._after(x, seen), cache

    def _before(self, x: Tensor) -> Tensor:
        return self.norms[0](x) if self.norm_first else x

    def _after(self, x: Tensor, seen: Tensor) -> Tensor:
        x = x + self.dropout(seen)
        if self.norm_first:
            return x + self.dropout(self.network(self.norms[1](x)))
        x = self.norms[0](x)
        return self.norms[1](x + self.dropout(self.network(x)))


def _one_for_each_layer(
    encoding: Encoding | Sequence[Encoding], layers: int | None
) -> list[Encoding]:
    if isinstance(encoding, Encoding):
        if layers is None:
            raise ValueError(
                "Transformer needs the number of layers, or a list with one encoding for each "
                "layer."
            )
        return [encoding] * whole_number("Transformer", "layers", layers)
    if isinstance(encoding, str) or not isinstance(encoding, Iterable):
        need_encoding("Transformer", encoding)
    each = list(encoding)
    if not each or (layers is not None and layers != len(each)):
        raise ValueError(
            f"Transformer was given {len(each)} encodings for layers={layers}: one for each layer "
            "is needed."
        )
    if not all(isinstance(one, Encoding) for one in each):
        raise ValueError(
            "every entry of the list must be an encoding; use make('none', …) for a layer without."
        )
    first = each[0]
    for one in each:
        if (one.shape.dim, one.shape.heads) != (
            first.shape.dim,
            first.shape.heads,
        ) or one.axes != first.axes:
            raise ValueError(
                f"all encodings must have one dim, heads and axes. Got {first.shape} and "
                f"{one.shape}."
            )
    return each


def _fuse(encoding: Encoding) -> nn.Module:
    """Back to the model's width after an encoding that stands beside the input."""
    dim = encoding.shape.dim
    return nn.Linear(dim + encoding.added_width, dim) if encoding.added_width else nn.Identity()
