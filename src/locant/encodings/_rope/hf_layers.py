"""Refusing configs that one rotary encoding cannot stand for: several models, or layers that
differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from locant.encodings._rope.hf_models import BY_KIND, SLIDING, SLIDING_OR_ALL, SOME_LAYERS

_PARTS = (
    "text_config",
    "vision_config",
    "audio_config",
    "encoder",
    "decoder",
    "text_encoder",
    "audio_encoder",
)


def refuse_several_models(config: Mapping[str, Any]) -> None:
    """Raise a ValueError if a config is made of the configs of several models."""
    parts = [key for key, value in config.items() if _is_config(key, value)]
    if parts:
        chosen = next((key for key in ("text_config", "decoder") if key in parts), None)
        remedy = f"Give the one that is meant: from_hf_config(config.{chosen})"
        if chosen is None:
            remedy = (
                "Give the one that is meant, or config.to_dict() without these keys if none of "
                "them is."
            )
        raise ValueError(
            f"this config{_named(config)} describes several models: {', '.join(parts)}.\n  {remedy}"
        )


def refuse_different_layers(config: Mapping[str, Any]) -> None:
    """Raise a ValueError if the layers of a config do not all turn alike."""
    model = config.get("model_type")
    if config.get("is_encoder_decoder"):
        raise _differ(
            config,
            "describes an encoder and a decoder (is_encoder_decoder)",
            '"is_encoder_decoder": False',
        )
    if config.get("per_layer_config"):
        raise _differ(
            config,
            "has layers with settings of their own (per_layer_config)",
            '"per_layer_config": None',
        )
    rope = config.get("rope_scaling") or config.get("rope_parameters")
    if isinstance(rope, Mapping) and any(isinstance(value, Mapping) for value in rope.values()):
        kinds = ", ".join(
            kind if value else f"{kind} (nothing turns)" for kind, value in rope.items()
        )
        raise _differ(
            config,
            f"has one set of rope parameters for each kind of layer: {kinds}",
            '"rope_parameters": config.rope_parameters["…"]',
        )
    if model in BY_KIND and not config.get("rope_parameters"):
        raise _differ(
            config,
            "has one set of rope parameters for each kind of layer, and its dict does not say them",
            '"rope_parameters": {"rope_theta": …}',
        )
    if model in SLIDING and not _all_slide(config):
        raise _differ(
            config,
            "turns only in its layers of sliding attention",
            '"layer_types": ["sliding_attention"]',
        )
    turns = config.get("no_rope_layers")
    if (turns and not all(turns)) or (model in SOME_LAYERS and not turns):
        raise _differ(
            config,
            "turns only in the layers that have a 1 in no_rope_layers",
            '"no_rope_layers": [1]',
        )
    thetas = set(config.get("layer_rope_theta") or ())
    if thetas and thetas != {(rope or {}).get("rope_theta") or config.get("rope_theta")}:
        listed = ", ".join(f"{theta:g}" for theta in sorted(thetas))
        raise _differ(
            config,
            f"has layers with other bases than rope_theta (layer_rope_theta: {listed}; 0 turns "
            "nothing)",
            '"layer_rope_theta": None, "rope_parameters": {"rope_theta": …}',
        )


def _is_config(key: str, value: Any) -> bool:
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    return isinstance(value, Mapping) and bool(value.get("model_type") or key in _PARTS)


def _all_slide(config: Mapping[str, Any]) -> bool:
    windowless = "sliding_window" in config and config["sliding_window"] is None
    if windowless and config.get("model_type") != "afmoe":
        return config.get("model_type") in SLIDING_OR_ALL
    return set(config.get("layer_types") or ()) == {"sliding_attention"}


def _differ(config: Mapping[str, Any], what: str, choice: str) -> ValueError:
    return ValueError(
        f"this config{_named(config)} {what}.\n"
        f"  One rotary encoding cannot stand for all of them. Choose one kind of layer: "
        f"from_hf_config({{**config.to_dict(), {choice}}})"
    )


def _named(config: Mapping[str, Any]) -> str:
    return f" (model_type {config['model_type']!r})" if config.get("model_type") else ""
