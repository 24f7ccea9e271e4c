"""Reading the rope parameters of a transformers config: the scaling they ask for, or a refusal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from locant._internal.checks import one_of
from locant.encodings._rope.hf_models import SECTIONS, TEMPERED
from locant.encodings._rope.scalings import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    Proportional,
    Scaling,
    Yarn,
)

_COMMON = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}
_SECTION_KEYS = {"mrope_section", "mrope_interleaved"}
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
    "longrope": {
        "factor",
        "original_max_position_embeddings",
        "attention_factor",
        "short_factor",
        "long_factor",
    },
    "llama3": {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"},
    "proportional": {"factor"},
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


def rope_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config's rope dict, checked: every key in it is one that is understood."""
    rope = dict(config.get("rope_scaling") or config.get("rope_parameters") or {})
    kind = one_of("from_hf_config", "rope_type", kind_of(rope), _SETTINGS)
    known = _COMMON | _SETTINGS[kind] | _own_keys(config)
    unknown = sorted(set(rope) - known)
    if unknown:
        allowed = ", ".join(sorted(known))
        raise ValueError(
            f"the rope type {kind!r} has settings that are not understood: {', '.join(unknown)}.\n"
            f"  Understood for it: {allowed}. Leaving them out would give other numbers, so "
            "nothing was built."
        )
    missing = sorted(key for key in _REQUIRED.get(kind, ()) if rope.get(key) is None)
    if missing:
        raise ValueError(
            f"the rope type {kind!r} needs {', '.join(missing)}, which the config does not say."
        )
    return rope


def _own_keys(config: Mapping[str, Any]) -> set[str]:
    """What a model type heeds among its rope parameters, beside what all do."""
    model = config.get("model_type")
    if model in SECTIONS:
        return _SECTION_KEYS
    if model in TEMPERED:  # the length in it is that of the whole config
        return {"llama_4_scaling_beta", "max_position_embeddings"}
    return set()


def sections_of(rope: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `Rotary` for a config whose pairs take their positions from several axes."""
    sections = rope.get("mrope_section")
    if sections is None:
        return {}
    layout = SECTIONS[config["model_type"]]
    if rope.get("mrope_interleaved", layout == "interleaved") != (layout == "interleaved"):
        raise ValueError(
            f"the config says mrope_interleaved={rope['mrope_interleaved']}, but the model of "
            f"{config['model_type']} lays its sections out {layout}, whatever the config says."
        )
    return {"sections": list(sections), "section_layout": layout}


def temperature_of(rope: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `Rotary` for a model whose queries grow with their position."""
    model = config.get("model_type")
    if model not in TEMPERED:
        return {}
    needed = ("llama_4_scaling_beta", "original_max_position_embeddings")
    missing = [key for key in needed if rope.get(key) is None]
    if missing:
        raise ValueError(
            f"the rope parameters of {model} do not say {', '.join(missing)}, without which its "
            "model cannot run."
        )
    beta, length = (rope[key] for key in needed)
    return {"query_temperature": {"beta": float(beta), "length": int(length)}} if beta else {}


def kind_of(rope: Mapping[str, Any]) -> str:
    return str(rope.get("rope_type") or rope.get("type") or "default")


def scaling_of(rope: Mapping[str, Any], config: Mapping[str, Any], length: int) -> Scaling | None:
    kind = kind_of(rope)
    if kind == "default":
        return None
    original = int(
        config.get("original_max_position_embeddings")
        or rope.get("original_max_position_embeddings")
        or length
    )
    factor = float(rope.get("factor") or length / original)
    if kind == "linear":
        return Linear(factor)
    if kind == "proportional":
        share = rope.get("partial_rotary_factor")
        return Proportional(rope.get("factor") or 1.0, 1.0 if share is None else share)
    if kind == "dynamic":
        return DynamicNtk(factor, length)  # transformers goes by the config's own length here
    if kind == "llama3":
        return Llama3(factor, original, rope["low_freq_factor"], rope["high_freq_factor"])
    if kind == "yarn":
        if config.get("qk_rope_head_dim"):
            _refuse_second_scale(rope, factor)
        fast, slow = rope.get("beta_fast") or 32.0, rope.get("beta_slow") or 1.0
        return Yarn(
            factor, original, fast, slow, _yarn_scale(rope, factor), rope.get("truncate", True)
        )
    return LongRope(
        factor, original, rope["short_factor"], rope["long_factor"], rope.get("attention_factor")
    )


def _yarn_scale(rope: Mapping[str, Any], factor: float) -> float | None:
    """DeepSeek's mscale pair, or the given factor, or nothing (then YaRN's own rule holds)."""
    if rope.get("attention_factor") is not None:
        return float(rope["attention_factor"])
    above, below = rope.get("mscale"), rope.get("mscale_all_dim")
    if not (above and below):
        return None
    if factor <= 1:
        return 1.0
    return _mscale(above, factor) / _mscale(below, factor)


def _mscale(strength: float, factor: float) -> float:
    return 0.1 * strength * math.log(factor) + 1.0


def _refuse_second_scale(rope: Mapping[str, Any], factor: float) -> None:
    """Raise a ValueError if a model with latent attention multiplies all its scores, not only what
    turns."""
    below = rope.get("mscale_all_dim")
    if not below or factor <= 1:
        return
    tables, scores = _yarn_scale(rope, factor) or _mscale(1.0, factor), _mscale(below, factor) ** 2
    raise ValueError(
        f"this config multiplies every score by {scores:.10g} (mscale_all_dim={below}, "
        f"factor={factor:g}), also what the "
        "dimensions that do not turn add to it. A rotary encoding cannot do that.\n"
        f'  Among its rope parameters, put "attention_factor": {tables:.10g} in the place of '
        "mscale and mscale_all_dim, "
        f"and multiply the scores by {scores:.10g} yourself."
    )
