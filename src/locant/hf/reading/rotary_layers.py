"""Reading the rotary encodings of a config, layer by layer.

Each layer has a config of its own, which `Rotary.from_hf_config` reads: the rope parameters of its
kind, its base and its head width, without the keys that only choose between layers. A layer that
turns nothing has the encoding `none`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from locant.encodings._rope.hf_models import SAYS, SLIDING, SLIDING_OR_ALL, SOME_LAYERS
from locant.encodings.base import Encoding
from locant.encodings.none import Nothing
from locant.encodings.rotary import Rotary
from locant.hf.reading.families import ROTARY_INTERLEAVED
from locant.shapes import Shape

# kinds of layers without attention between tokens
WITHOUT_ATTENTION = frozenset({"conv", "linear_attention", "mamba", "mamba2", "moe", "recurrent"})
# keys that only choose between layers
CHOOSING = frozenset(
    (
        *("layer_types", "no_rope_layers", "no_rope_layer_interval", "layer_rope_theta"),
        *("per_layer_config", "layers_block_type", "rope_local_base_freq", "rope_scaling_layers"),
    )
)
# what their published configs say of a table at the input, which these models neither read nor have
NO_TABLE = {"modernbert": ("absolute", "sans_pos"), "modernbert-decoder": ("absolute", "sans_pos")}


def read_rotary(config: Any) -> list[Encoding]:
    """Read one encoding for each layer of a transformers config; equal layers share an encoding."""
    shared: dict[str, Encoding] = {}
    encodings = []
    for layer in range(config.num_hidden_layers):
        values = _layer_values(config, layer)
        key = json.dumps(values, sort_keys=True, default=str)
        if key not in shared:
            shared[key] = _read_layer(config, values)
        encodings.append(shared[key])
    return encodings


def _read_layer(config: Any, values: Mapping[str, Any]) -> Encoding:
    """Read the encoding of one layer from the values that concern it; no rope: `none`."""
    if not values["turns"]:
        return Nothing(shape_of(config), query_temperature=values["query_temperature"])
    return Rotary.from_hf_config(values["config"], pairing=pairing_of(config))


def shape_of(config: Any) -> Shape:
    """Return the shape that attention has in a config's model."""
    heads = int(config.num_attention_heads)
    head = getattr(config, "head_dim", None) or config.hidden_size // heads
    length = getattr(config, "max_position_embeddings", None) or 512
    return Shape(heads * int(head), heads, int(length))


def pairing_of(config: Any) -> str:
    """Say how the pairs of a config's model lie."""
    model = config.model_type
    if model in SAYS:
        return "interleaved" if getattr(config, "rope_interleave", True) else "half"
    return "interleaved" if model in ROTARY_INTERLEAVED else "half"


def _layer_values(config: Any, layer: int) -> dict[str, Any]:
    """What decides the encoding of one layer: whether it turns, its config, its temperature."""
    values = config.to_dict()
    kind = _kind(config, layer)
    rope = _rope_parameters(values, kind, layer)
    turns = rope is not None and _turns(config, kind, layer)
    own = _layer_config(values, rope, layer) if turns else {}
    return {"turns": turns, "config": own, "query_temperature": _temperature(config, turns)}


def _rope_parameters(
    values: Mapping[str, Any], kind: str | None, layer: int
) -> dict[str, Any] | None:
    """Return the rope parameters of a layer; None where those of its kind are None."""
    rope = values.get("rope_parameters") or {}
    if any(isinstance(value, Mapping) for value in rope.values()):
        _refuse_truncate(rope)
        rope = rope.get(kind)
    thetas = values.get("layer_rope_theta")
    return {**rope, "rope_theta": thetas[layer]} if thetas and rope else rope


def _layer_config(
    values: Mapping[str, Any], rope: dict[str, Any] | None, layer: int
) -> dict[str, Any]:
    """Return a config that describes one layer alone, with the settings of its own."""
    kept = {key: value for key, value in values.items() if key not in CHOOSING}
    kept = {key: value for key, value in kept.items() if not _is_config(value)}
    if kept.get("position_embedding_type") in NO_TABLE.get(values["model_type"], ()):
        del kept["position_embedding_type"]
    own = values.get("per_layer_config") or {}  # its keys are "05" in a config of 30 layers
    kept |= {int(number): settings for number, settings in own.items()}.get(layer, {})
    if "rope_parameters" in kept:
        kept |= {"rope_parameters": rope, "rope_scaling": None}
    if values["model_type"] in SLIDING:
        kept["layer_types"] = ["sliding_attention"]
    if values["model_type"] in SOME_LAYERS:
        kept["no_rope_layers"] = [1]
    return kept


def _is_config(value: Any) -> bool:
    """Tell whether a value is the config of another model, beside the one that is read."""
    return isinstance(value, Mapping) and "model_type" in value


def _kind(config: Any, layer: int) -> str | None:
    """Return the kind of a layer, where a config has several."""
    for key in ("layer_types", "layers_block_type"):
        kinds = getattr(config, key, None)
        if kinds:
            return str(kinds[layer])
    return None


def _turns(config: Any, kind: str | None, layer: int) -> bool:
    """Tell whether the attention of a layer turns queries and keys."""
    if kind in WITHOUT_ATTENTION:
        return False
    if config.model_type in SLIDING and kind != "sliding_attention":
        windowless = getattr(config, "sliding_window", None) is None
        return config.model_type in SLIDING_OR_ALL and windowless
    chosen = getattr(config, "no_rope_layers", None)
    if chosen and not chosen[layer]:
        return False
    thetas = getattr(config, "layer_rope_theta", None)
    if thetas and not thetas[layer]:
        return False
    indices = getattr(config, "attn_layer_indices", None)
    return not indices or layer in indices


def _temperature(config: Any, turns: bool) -> dict[str, Any] | None:
    """Return the query temperature of Llama 4's layers that do not turn."""
    if turns or not getattr(config, "attn_temperature_tuning", None):
        return None
    return {"beta": config.attn_scale, "length": int(config.floor_scale), "offset": 1}


def _refuse_truncate(rope: Mapping[str, Any]) -> None:
    """Raise a ValueError for `truncate: false` by kind of layer, which transformers passes over."""
    for kind, own in rope.items():
        if isinstance(own, Mapping) and own.get("truncate") is False:
            raise ValueError(
                f"the rope parameters of {kind} say truncate: false, which transformers 5.22 "
                "heeds only outside of parameters by kind of layer.\n"
                "  Drop it to read what transformers computes, or read the kind alone with "
                "Rotary.from_hf_config to get what the config says."
            )
