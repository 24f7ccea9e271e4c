"""Reading what a transformers configuration says about rotary encodings, and refusing what is not understood."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from locant.encodings._scaling import DynamicNtk, Linear, Llama3, LongRope, Scaling, Yarn
from locant.errors import one_of
from locant.shapes import Shape

_COMMON = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}
_SETTINGS = {  # what each type may say, beside _COMMON
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor", "original_max_position_embeddings"},
    "yarn": {
        "factor",
        "original_max_position_embeddings",
        "attention_factor",
        "beta_fast",
        "beta_slow",
        "mscale",
        "mscale_all_dim",
        "truncate",
    },
    "longrope": {"factor", "original_max_position_embeddings", "attention_factor", "short_factor", "long_factor"},
    "llama3": {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"},
}
_SETTINGS["su"] = _SETTINGS["longrope"]
_REQUIRED = {
    "linear": {"factor"},
    "dynamic": {"factor"},
    "yarn": {"factor"},
    "longrope": {"short_factor", "long_factor"},
    "su": {"short_factor", "long_factor"},
    "llama3": _SETTINGS["llama3"],
}


def rotary_options(config: Any) -> tuple[Shape, dict[str, Any]]:
    """The shape and the options of `Rotary` for a config object or dict."""
    said = _as_dict(config)
    rope = _rope(said)
    heads = _need(said, "num_attention_heads")
    head = said.get("qk_rope_head_dim") or said.get("head_dim") or _need(said, "hidden_size") // heads
    length = _need(said, "max_position_embeddings")
    share = rope.get("partial_rotary_factor") or said.get("partial_rotary_factor") or said.get("rotary_pct") or 1.0
    theta = rope.get("rope_theta") or said.get("rope_theta") or said.get("rotary_emb_base") or 10_000.0
    width = said.get("rotary_dim") or int(head * share)
    options = {"base": float(theta), "width": width, "scaling": _scaling(rope, said, length)}
    options["pairing"] = "interleaved" if said.get("rope_interleave") else "half"
    return Shape(heads * head, heads, length), options


def _as_dict(config: Any) -> dict[str, Any]:
    if isinstance(config, Mapping):
        return dict(config)
    if hasattr(config, "to_dict"):
        return dict(config.to_dict())
    raise ValueError(f"a transformers config or its dict is needed. Got {type(config).__name__} instead.")


def _need(said: Mapping[str, Any], key: str) -> int:
    if said.get(key) is None:
        raise ValueError(f"the config does not say {key!r}, which the rotary encoding needs.")
    return int(said[key])


def _rope(said: Mapping[str, Any]) -> dict[str, Any]:
    """The config's rope dict, checked: every key in it is one that is understood."""
    rope = dict(said.get("rope_scaling") or said.get("rope_parameters") or {})
    if rope and all(isinstance(value, Mapping) for value in rope.values()):
        raise ValueError(
            f"this config has one set of rope parameters for each kind of layer: {', '.join(rope)}.\n"
            '  Choose one: from_hf_config({**config.to_dict(), "rope_parameters": config.rope_parameters["…"]})'
        )
    kind = one_of("from_hf_config", "rope_type", _kind(rope), _SETTINGS)
    unknown = sorted(set(rope) - _COMMON - _SETTINGS[kind])
    if unknown:
        allowed = ", ".join(sorted(_COMMON | _SETTINGS[kind]))
        raise ValueError(
            f"the rope type {kind!r} has settings that are not understood: {', '.join(unknown)}.\n"
            f"  Understood for it: {allowed}. Leaving them out would give other numbers, so nothing was built."
        )
    missing = sorted(key for key in _REQUIRED.get(kind, ()) if rope.get(key) is None)
    if missing:
        raise ValueError(f"the rope type {kind!r} needs {', '.join(missing)}, which the config does not say.")
    return rope


def _kind(rope: Mapping[str, Any]) -> str:
    return str(rope.get("rope_type") or rope.get("type") or "default")


def _scaling(rope: Mapping[str, Any], said: Mapping[str, Any], length: int) -> Scaling | None:
    kind = _kind(rope)
    if kind == "default":
        return None
    original = int(
        rope.get("original_max_position_embeddings") or said.get("original_max_position_embeddings") or length
    )
    factor = float(rope.get("factor") or length / original)
    if kind == "linear":
        return Linear(factor)
    if kind == "dynamic":
        return DynamicNtk(factor, length)  # transformers goes by the config's own length here
    if kind == "llama3":
        return Llama3(factor, original, rope["low_freq_factor"], rope["high_freq_factor"])
    if kind == "yarn":
        fast, slow = rope.get("beta_fast") or 32.0, rope.get("beta_slow") or 1.0
        return Yarn(factor, original, fast, slow, _yarn_scale(rope, factor), rope.get("truncate", True))
    return LongRope(factor, original, rope["short_factor"], rope["long_factor"], rope.get("attention_factor"))


def _yarn_scale(rope: Mapping[str, Any], factor: float) -> float | None:
    """DeepSeek's mscale pair, or the given factor, or nothing (then YaRN's own rule holds)."""
    if rope.get("attention_factor") is not None:
        return float(rope["attention_factor"])
    above, below = rope.get("mscale"), rope.get("mscale_all_dim")
    if not (above and below):
        return None
    if factor <= 1:
        return 1.0
    return (0.1 * above * math.log(factor) + 1) / (0.1 * below * math.log(factor) + 1)
