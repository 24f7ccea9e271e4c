"""Reading what a transformers configuration says about rotary encodings, and refusing what is not
understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from locant.encodings._rope.hf_layers import refuse_different_layers, refuse_several_models
from locant.encodings._rope.hf_models import (
    HALF,
    INTERLEAVED,
    OWN_KEYS,
    UNHEEDED,
    UNSAID,
    pairing_of,
    refuse_other_encodings,
)
from locant.encodings._rope.hf_parameters import (
    kind_of,
    rope_of,
    scaling_of,
    sections_of,
    temperature_of,
)
from locant.shapes import Shape

_ALIASES = {  # the words of single models
    "num_attention_heads": ("n_head", "n_heads"),
    "hidden_size": ("n_embd", "d_model"),
    "max_position_embeddings": ("n_positions", "max_seq_len", "model_max_length"),
    "head_dim": ("attention_head_dim", "kv_channels"),
}
_WORDS = re.compile(
    r"(^|_)(m?rope|nope|d?ntk|yarn|mscale)(_|$)|rotary|alibi|base_freq|relative_att|pos_emb|position_(embed|encod|bias)"
)
_KNOWN_KEYS = {
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "partial_rotary_factor",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "max_position_embeddings",
    "original_max_position_embeddings",
    *OWN_KEYS,
}


def rotary_options(config: Any, pairing: str | None = None) -> tuple[Shape, dict[str, Any]]:
    """The shape and the options of `Rotary` for a config object or dict."""
    config = _as_dict(config)
    refuse_other_encodings(config)
    refuse_several_models(config)
    pairing = pairing or pairing_of(config)
    _refuse_unknown_words(config)
    refuse_different_layers(config)
    rope = rope_of(config)
    _refuse_unsaid(config, rope)
    heads = _need(config, "num_attention_heads")
    own = next(
        (key for key in ("qk_rope_head_dim", "head_dim") if config.get(key) is not None), None
    )
    head = _need(config, own) if own else _need(config, "hidden_size") // heads
    length = _need(config, "max_position_embeddings")
    theta = _first(
        rope.get("rope_theta"), config.get("rope_theta"), config.get("rotary_emb_base"), 10_000.0
    )
    share = _first(
        rope.get("partial_rotary_factor"),
        config.get("partial_rotary_factor"),
        config.get("rotary_pct"),
        1.0,
    )
    turning = head if kind_of(rope) == "proportional" else int(head * share)
    width = _first(config.get("rotary_dim"), turning)
    options = {
        "base": float(theta),
        "width": width,
        "scaling": scaling_of(rope, config, length),
        "pairing": pairing,
        **sections_of(rope, config),
        **temperature_of(rope, config),
    }
    return Shape(heads * head, heads, length), options


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _as_dict(config: Any) -> dict[str, Any]:
    """Return the values of a config, under the names that most configs use."""
    if isinstance(config, Mapping):
        values = dict(config)
    elif hasattr(config, "to_dict"):
        values = dict(config.to_dict())
    else:
        raise ValueError(
            f"a transformers config or its dict is needed. Got {type(config).__name__} instead."
        )
    for name, others in _ALIASES.items():
        found = [values[key] for key in (name, *others) if values.get(key) is not None]
        if name in getattr(config, "attribute_map", {}):
            values[name] = getattr(config, name)
        elif found:
            values[name] = found[0]
    return values


def _need(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    if value is None:
        raise ValueError(f"the config does not say {key!r}, which the rotary encoding needs.")
    if isinstance(value, (list, tuple)):
        raise ValueError(
            f"the config says another {key!r} for each layer: {value!r}. One rotary encoding has "
            "one number.\n"
            "  Choose one layer: "
            f'from_hf_config({{**config.to_dict(), "{key}": {value[0] if value else "…"}}})'
        )
    return int(value)


def _refuse_unknown_words(config: Mapping[str, Any]) -> None:
    """Raise a ValueError for every key that speaks of positions and is not understood, or not for
    this model."""
    model = config.get("model_type")
    known = model in HALF | INTERLEAVED
    harmless = {
        key
        for key, value in config.items()
        if value is None or (key in OWN_KEYS and value is False)
    }
    unknown = {key for key in config if _WORDS.search(key) and key not in _KNOWN_KEYS}
    if "no_rope_layers" in config:
        unknown.discard("no_rope_layer_interval")
    unknown |= {
        key for key, models in OWN_KEYS.items() if known and key in config and model not in models
    }
    unknown |= UNHEEDED.get(str(model), frozenset()) & set(config)
    if config.get("rotary_value"):
        unknown.add("rotary_value")
    if config.get("position_embedding_type") not in (None, "rope", "rotary"):
        unknown.add("position_embedding_type")
    listed = [f"{key}={config[key]!r}" for key in sorted(unknown - harmless)] + _inner_words(config)
    if listed:
        raise ValueError(
            "the config says things of its positions that are not "
            f"understood{f' for {model}' if model else ''}: "
            f"{', '.join(listed)}.\n"
            "  Leaving them out could give other numbers, so nothing was built. If they change "
            "nothing, drop them from "
            "config.to_dict() and give that."
        )


def _inner_words(config: Mapping[str, Any]) -> list[str]:
    """What the part of a config on attention says of positions, and its whole does not say too."""
    inner = config.get("attn_config")
    inner = inner if isinstance(inner, Mapping) else {}
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    theta = rope.get("rope_theta") or config.get("rope_theta")
    speaks = [
        key for key, value in inner.items() if _WORDS.search(key) and value not in (None, False)
    ]
    return [
        f"attn_config.{key}={inner[key]!r}"
        for key in speaks
        if (key, inner[key]) != ("rope_theta", theta)
    ]


def _refuse_unsaid(config: Mapping[str, Any], rope: Mapping[str, Any]) -> None:
    """Raise a ValueError if a dict leaves out what transformers would fill in with a number of the
    model's own."""
    shares = (config.get(key) for key in ("partial_rotary_factor", "rotary_pct", "rotary_dim"))
    described = {
        "rope_theta": rope.get("rope_theta") or config.get("rope_theta"),
        "partial_rotary_factor": rope.get("partial_rotary_factor")
        or next(filter(None, shares), None),
        "rope_type": rope.get("rope_type") or rope.get("type"),
        "head_dim": config.get("head_dim"),
    }
    missing = [
        key
        for key, models in UNSAID.items()
        if config.get("model_type") in models and not described[key]
    ]
    if missing:
        raise ValueError(
            f"the dict does not say {', '.join(missing)}, for which {config['model_type']} has "
            "numbers of its own.\n"
            "  Give the config object, transformers.AutoConfig.from_pretrained(…), or write them "
            "into the dict."
        )
