"""Swap the positions of a pretrained model for any encoding of locant, and bring its own back.

The model keeps its weights; only how its attention learns of positions changes. It stays a model of
transformers: `generate` works with its cache, left padding and beams.

>>> model = locant.hf.load("checkpoint")  # doctest: +SKIP
>>> with locant.hf.swap(model, locant.make("alibi", dim=576, heads=9)):  # doctest: +SKIP
...     logits = model(input_ids).logits
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn

from locant.attention.validation import need_encoding
from locant.encodings.base import Encoding, overrides, senses
from locant.hf.reading.model_reader import SWAPPED, encodings_in_force
from locant.hf.swapping import swapped_attention
from locant.hf.swapping.alibi_models import own_forward, positions_by_order
from locant.hf.swapping.position_sources import (
    EmbeddedPositions,
    NoRotation,
    find_rotary,
    find_tables,
)
from locant.hf.swapping.swapped_attention import ALWAYS_A_MASK, CACHES, LAYER, NAME, SwappedLayer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ENCODING = "locant_encoding"  # the name of an encoding among an attention module's children


class Swap:
    """A model with other encodings; `restore` brings its own back, to the last bit.

    encodings  one for each layer, in the order of the layers
    """

    def __init__(self, model: PreTrainedModel, encodings: list[Encoding]) -> None:
        self.model, self.encodings = model, encodings
        self._undo: list[Callable[[], Any]] = []

    def restore(self) -> None:
        """Put the model's own positions back; doing it twice changes nothing."""
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.restore()

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute until `restore`."""
        own = getattr(owner, name)
        setattr(owner, name, value)
        self._undo.append(lambda: setattr(owner, name, own))

    def add_attribute(self, owner: nn.Module, name: str, value: Any) -> None:
        """Add an attribute that the owner does not have, until `restore`."""
        setattr(owner, name, value)
        self._undo.append(lambda: delattr(owner, name))

    def add_hook(self, module: nn.Module, hook: Callable[..., Any]) -> None:
        """Call `hook` before every forward of a module, until `restore`."""
        self._undo.append(module.register_forward_pre_hook(hook, with_kwargs=True).remove)


def swap(model: PreTrainedModel, encoding: Encoding | Sequence[Encoding]) -> Swap:
    """Let a model attend with another encoding, or with one for each layer, until `restore`.

    encoding  its shape must have the model's heads and head width. What `embed` adds comes from the
              first encoding: where the model adds its own positions, else before the first layer

    Llama and its family, BERT, GPT-2 and their kin go through transformers' attention interface; T5
    too; MPT and Bloom get a forward of their own. T5, MPT and Bloom count tokens, all others take
    `position_ids`. A swap is not saved: restore the model's own positions before `save_pretrained`.
    """
    if encodings_in_force(model) is not None:
        raise ValueError(
            f"this {type(model).__name__} is swapped already.\n"
            "  Call restore() of what the first swap returned, then swap again."
        )
    layers = attention_layers(model)
    encodings = _one_each(encoding, len(layers), model)
    for one, (_, module) in zip(encodings, layers, strict=True):
        _check_fit(one, module, model)
    swapped_attention.register()
    found = Swap(model, encodings)
    try:
        _put_in(found, layers)
        found.add_attribute(model, SWAPPED, tuple(encodings))
        found.add_attribute(model, "save_pretrained", _refuse_to_save)
    except BaseException:
        found.restore()
        raise
    return found


def _refuse_to_save(*_: Any, **__: Any) -> None:
    raise ValueError(
        "a swapped model cannot be saved: a checkpoint has no room for the encoding.\n"
        "  Call restore() of what swap returned, then save."
    )


def attention_layers(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """List the self-attention modules of a model by name, in the order of its layers."""
    layers = []
    for name, module in model.named_modules():
        kind = type(module).__name__
        is_cross = getattr(module, "is_cross_attention", False) or re.search(
            r"(?i)cross|EncDec", f"{name.rpartition('.')[2]} {kind}"
        )
        own = own_forward(module) is not None
        if (own or hasattr(module, "is_causal")) and hasattr(module, "layer_idx") and not is_cross:
            layers.append((name, module))
    if not layers:
        raise ValueError(
            f"{type(model).__name__} has no attention that an encoding can be swapped into.\n"
            "  Known: Llama and its family, BERT, RoBERTa, GPT-2, T5, MPT, Bloom and their kin."
        )
    return layers


def _one_each(
    encoding: Encoding | Sequence[Encoding], count: int, model: nn.Module
) -> list[Encoding]:
    if isinstance(encoding, Encoding):
        return [encoding] * count
    given: Any = encoding
    if isinstance(given, str) or not isinstance(given, Sequence):
        given = [given]
    encodings: list[Encoding] = list(given)
    for one in encodings:
        need_encoding("swap", one)
    if len(encodings) != count:
        raise ValueError(
            f"{type(model).__name__} has {count} layers, but {len(encodings)} encodings were "
            "given.\n  Give one for each layer, or a single one for all."
        )
    others = [one for one in encodings if one is not encodings[0] and overrides(one, "embed")]
    if others:
        raise ValueError(
            f"a model has one input, so only the first encoding may change it, but "
            f"{type(others[0]).__name__} is another one with an `embed` of its own."
        )
    return encodings


def _check_fit(encoding: Encoding, module: Any, model: Any) -> None:
    """Refuse an encoding that cannot act inside a layer of this shape."""
    heads, width = _head_shape(module, model)
    name = type(encoding).__name__
    if (encoding.shape.heads, encoding.shape.head) != (heads, width):
        raise ValueError(
            f"the model has {heads} heads of {width}, but {name} was made for "
            f"{encoding.shape.heads} of {encoding.shape.head}.\n"
            f"  Make it with dim={heads * width}, heads={heads}."
        )
    if encoding.axes != 1:
        raise ValueError(f"{name} has {encoding.axes} axes, but a text has one.")
    if encoding.added_width:
        raise ValueError(
            f"{name} appends {encoding.added_width} features to its input, for which a "
            "pretrained model has no weights."
        )
    if senses(encoding) and encoding.shape.dim != model.config.hidden_size:
        raise ValueError(
            f"{name} reads the input of a layer, which is {model.config.hidden_size} wide, but it "
            f"was made for dim={encoding.shape.dim}."
        )
    kind = type(model).__name__
    if getattr(model.config, "attn_logit_softcapping", None):
        raise ValueError(f"{kind} caps its scores, which a swapped encoding would not.")
    if hasattr(module, "sinks"):
        raise ValueError(f"{kind} has attention sinks, which a swapped encoding would drop.")
    if own_forward(module) is None and not model._can_set_attn_implementation():
        raise ValueError(
            f"{kind} computes attention in code of its own instead of transformers' attention "
            "interface, so no encoding can be swapped into it."
        )


def _head_shape(module: Any, model: Any) -> tuple[int, int]:
    """Read how many query heads a layer has, and how wide they are."""
    config = getattr(module, "config", model.config)
    for name in ("head_dim", "attention_head_size", "head_size", "key_value_proj_dim"):
        width = getattr(module, name, None)
        if isinstance(width, int):
            break
    else:
        width = config.hidden_size // config.num_attention_heads
    for name in ("num_heads", "num_attention_heads", "n_heads"):
        heads = getattr(module, name, None)
        if isinstance(heads, int):
            return heads, width
    return config.num_attention_heads, width


def _put_in(found: Swap, layers: list[tuple[str, nn.Module]]) -> None:
    """Give every layer its encoding, and put the model's own positions out of effect."""
    model, first = found.model, found.encodings[0]
    sources = _replace_sources(found)
    own = [own_forward(module) for _, module in layers]
    counts = own[0] is not None or hasattr(layers[0][1], "has_relative_attention_bias")
    if not sources and not counts:
        raise ValueError(
            f"{type(model).__name__} gets its positions in a way that swap does not know, so they "
            "would act beside the new encoding.\n"
            "  Known: a rotary_emb of the whole model, a table of positions, T5, MPT and Bloom."
        )
    for (_, module), encoding, forward in zip(layers, found.encodings, own, strict=True):
        weight = next(module.parameters())
        found.add_attribute(module, ENCODING, encoding.to(weight.device))
        found.add_attribute(module, LAYER, SwappedLayer(encoding))
        if forward is None:
            found.add_hook(module, _before_attention(sources))
        else:
            found.add_attribute(module, "forward", types.MethodType(forward, module))
    if overrides(first, "embed") and not any(isinstance(s, EmbeddedPositions) for s in sources):
        for name in _first_layers(layers):
            found.add_hook(model.get_submodule(name), _before_first_layer(first, sources))
    word = NAME if own[0] is None else ALWAYS_A_MASK
    for config in _configs(model):
        found.set_attribute(config, "_attn_implementation_internal", word)


def _replace_sources(found: Swap) -> list[NoRotation | EmbeddedPositions]:
    """Replace what turns position_ids into rotations or vectors; empty for models that count."""
    sources: list[NoRotation | EmbeddedPositions] = []
    for owner, name, own in find_rotary(found.model):
        sources.append(NoRotation(own))
        found.set_attribute(owner, name, sources[-1])
    for owner, name, table in find_tables(found.model):
        first = found.encodings[0].to(table.weight.device)
        sources.append(EmbeddedPositions(first, table))
        found.set_attribute(owner, name, sources[-1])
        _lengthen_buffers(found, owner, first.shape.length)
    return sources


def _lengthen_buffers(found: Swap, owner: Any, length: int) -> None:
    """Let BERT and its kin count past their table: their position_ids are kept as a buffer."""
    own = getattr(owner, "position_ids", None)
    if not isinstance(own, Tensor) or own.shape[-1] >= length:
        return
    found.set_attribute(owner, "position_ids", torch.arange(length, device=own.device)[None])
    types_kept = getattr(owner, "token_type_ids", None)
    if isinstance(types_kept, Tensor):
        found.set_attribute(owner, "token_type_ids", types_kept.new_zeros(1, length))


def _before_attention(
    sources: list[NoRotation | EmbeddedPositions],
) -> Callable[..., tuple[Any, Any]]:
    """Make the hook that tells a layer its positions and stands between it and its cache."""

    def hook(module: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
        layer: SwappedLayer = getattr(module, LAYER)
        word = next((word for word in CACHES if named.get(word) is not None), None)
        cache = named[word] if word else None
        x = args[0] if args else named["hidden_states"]
        if sources:
            pos = _noted(sources, named)
        else:
            pos = positions_by_order(x.shape[1], cache, module.layer_idx, x.device)
            named["position_bias"] = x.new_zeros(1)  # T5 would materialize (H,Q,K)
        wrapped = layer.begin(x, pos, cache)
        if word:
            named[word] = wrapped
        return args, named

    return hook


def _before_first_layer(
    encoding: Encoding, sources: list[NoRotation | EmbeddedPositions]
) -> Callable[..., tuple[Any, Any]]:
    """Make the hook that lets an encoding's `embed` change the input of the first layer."""

    def hook(module: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
        x = args[0] if args else named["hidden_states"]
        if sources:
            pos = _noted(sources, named)
        else:
            cache = next((named[word] for word in CACHES if named.get(word) is not None), None)
            pos = positions_by_order(x.shape[1], cache, 0, x.device)
        x = encoding.embed(x, pos if pos.dim() == 1 else pos.expand(x.shape[0], -1))
        return ((x, *args[1:]), named) if args else (args, {**named, "hidden_states": x})

    return hook


def _noted(sources: list[NoRotation | EmbeddedPositions], named: dict[str, Any]) -> Tensor:
    """Return the position_ids that a layer was given, else those that the model last used."""
    given = named.get("position_ids")
    noted = sources[0].position_ids if given is None else given
    if noted is None:
        raise ValueError("the model told its attention no position_ids.")
    return noted


def _first_layers(layers: list[tuple[str, nn.Module]]) -> list[str]:
    """Name the first layer of every stack: "model.layers.0" of "model.layers.0.self_attn"."""
    firsts: dict[str, str] = {}
    for name, _ in layers:
        found = re.match(r"(.*?)\.(\d+)\.", name + ".")
        if found:
            firsts.setdefault(found[1], f"{found[1]}.{found[2]}")
    return list(firsts.values())


def _configs(model: nn.Module) -> list[Any]:
    """List the configs of a model and of the models inside it, each once."""
    configs: dict[int, Any] = {}
    for module in model.modules():
        config = getattr(module, "config", None)
        if config is not None and hasattr(config, "_attn_implementation_internal"):
            configs[id(config)] = config
    return list(configs.values())
