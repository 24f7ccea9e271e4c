"""Reading a transformers config: one encoding for each layer of its text model.

>>> from transformers import Gemma3TextConfig
>>> layers = read_config(Gemma3TextConfig(num_hidden_layers=6))
>>> [encoding.base for encoding in layers]
[10000.0, 10000.0, 10000.0, 10000.0, 10000.0, 1000000.0]
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from locant.encodings._rope.hf_models import WITHOUT
from locant.encodings.base import Encoding
from locant.encodings.none import Nothing
from locant.hf.checkpoints.loading import config_from_dict, load_config, model_class
from locant.hf.reading.alibi_layers import read_alibi
from locant.hf.reading.axial_layers import read_axial
from locant.hf.reading.families import (
    ALIBI,
    AXIAL,
    NOTHING,
    REFUSED,
    ROTARY,
    T5_BIAS,
    TABLE,
    text_config,
)
from locant.hf.reading.rotary_layers import read_rotary, shape_of


def read_config(config: Any) -> list[Encoding]:
    """Read the encodings that a config describes, one for each layer, the first layer first.

    config  a transformers config, its dict, or a path to config.json or its folder. Of a config of
            several models the text model is read. Encoders come before decoders.

    Equal layers share one encoding. An encoding with a table stands at the input: its `embed` is
    called once, not in each layer. What only weights know (learned tables) is drawn at random;
    `read` copies them. What cannot be read right is a ValueError that names the key or the reason.
    """
    config = text_config(as_config(config))
    kind = family(config)
    encodings = described(config, kind)
    if encodings is not None:
        return encodings
    from locant.hf.reading.model_reader import read_modules

    with torch.device("meta"):
        model = model_class(config)(config)
    return read_modules(model, kind)


def described(config: Any, kind: str) -> list[Encoding] | None:
    """Read the encodings that a config alone decides; None where they stand in a model's
    modules."""
    if kind == "nothing":
        return [Nothing(shape_of(config))] * int(config.num_hidden_layers)
    readers = {"rotary": read_rotary, "axial": read_axial, "alibi": read_alibi}
    return readers[kind](config) if kind in readers else None


def as_config(config: Any) -> Any:
    """Return a transformers config from itself, its dict, or a path."""
    if isinstance(config, str | Path):
        return load_config(config)
    if isinstance(config, Mapping):
        return config_from_dict(dict(config))
    if hasattr(config, "to_dict") and hasattr(config, "model_type"):
        return config
    raise ValueError(
        "a transformers config, its dict, or a path to config.json is needed. Got "
        f"{type(config).__name__} instead."
    )


def family(config: Any) -> str:
    """Name the family of encodings that a config's model type has; a ValueError for what no
    encoding stands for."""
    model = config.model_type
    if model in REFUSED:
        raise ValueError(f"the positions of {model} cannot be read: {REFUSED[model]}")
    if model == "granitemoehybrid" and config.position_embedding_type != "rope":
        return "nothing"
    if model == "zamba2" and not config.use_mem_rope:
        return "nothing"
    if model in ALIBI or (model == "falcon" and config.alibi):
        return "alibi"
    if model in ("deberta", "deberta-v2"):
        return _deberta(config)
    if model == "inkling_text":
        return _inkling(config)
    if model == "esm":
        return "rotary" if config.position_embedding_type == "rotary" else "table"
    families = {"rotary": ROTARY, "table": TABLE, "t5": T5_BIAS, "nothing": NOTHING, "axial": AXIAL}
    for name, models in families.items():
        if model in models:
            if name == "table":
                _refuse_relative_keys(config)
            return name
    if model in WITHOUT:
        raise ValueError(f"the positions of {model} are not read: its model {WITHOUT[model]}")
    raise ValueError(
        f"the model_type {model!r} is not among those that were compared with transformers, so "
        "nothing was read.\n"
        "  What is read and what is not: docs/architectures.md. If you know how its pairs lie: "
        'locant.encodings.Rotary.from_hf_config(config, pairing="half")'
    )


def _refuse_relative_keys(config: Any) -> None:
    """Raise a ValueError for a table at the input that is not all that a config asks for."""
    kind = getattr(config, "position_embedding_type", None)
    if kind in ("relative_key", "relative_key_query"):
        raise ValueError(
            f"the config says position_embedding_type={kind!r}, learned vectors by distance that "
            f"meet queries and keys, which transformers 5.22 passes over: its {config.model_type} "
            "has a table at the input and nothing else.\n"
            "  Drop the key to read what transformers computes, or use locant.make('shaw', …)."
        )


def _deberta(config: Any) -> str:
    """Name the family of a DeBERTa: a table at its input, unless its attention is relative."""
    if not config.relative_attention:
        return "table" if config.position_biased_input else "nothing"
    if config.position_biased_input:
        raise ValueError(
            f"{config.model_type} with position_biased_input=true and relative_attention=true has "
            "both a table at its input and terms by distance in its scores.\n"
            "  Use locant.make('learned', …) and locant.make('deberta', …)."
        )
    terms = sorted(config.pos_att_type or [])
    if terms != ["c2p", "p2c"]:
        raise ValueError(
            f"{config.model_type} with pos_att_type={config.pos_att_type!r} has not the two terms "
            "of content and distance that locant's deberta has: c2p and p2c."
        )
    if getattr(config, "talking_head", False):
        raise ValueError(f"{config.model_type} with talking_head=true mixes the scores of heads.")
    return "deberta"


def _inkling(config: Any) -> str:
    """Name the family of an Inkling, whose scores may not grow with the length."""
    if config.log_scaling_n_floor is not None:
        raise ValueError(
            f"inkling_text with log_scaling_n_floor={config.log_scaling_n_floor!r} multiplies its "
            "scores by a logarithm of the position, which locant's inkling does not."
        )
    return "inkling"
