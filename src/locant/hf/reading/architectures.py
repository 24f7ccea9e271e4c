"""Which architectures of the installed transformers are read, and how that was seen.

Each text model that can be built tiny is built with random weights, read, and run with the
encodings in place of its own positions (`proof`). docs/make_architectures.py writes the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from locant.encodings.base import Encoding
from locant.encodings.none import Nothing
from locant.encodings.rotary import Rotary
from locant.hf.checkpoints.loading import build, model_class
from locant.hf.checkpoints.tiny import tiny_config
from locant.hf.reading.config_reader import read_config
from locant.hf.reading.families import ROTARY, text_config
from locant.hf.reading.model_reader import first_position, read
from locant.hf.reading.proof import Comparison, prove, shake

AS_IN_CHECKPOINTS: dict[
    str, dict[str, Any]
] = {  # what checkpoints say where a config class says otherwise
    "deberta": {
        "relative_attention": True,
        "position_biased_input": False,
        "pos_att_type": ["c2p", "p2c"],
    },
    "deberta-v2": {
        "relative_attention": True,
        "position_biased_input": False,
        "position_buckets": 16,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "pos_att_type": ["p2c", "c2p"],
    },
}
MAX_WEIGHTS = 20_000_000  # of a model that still counts as tiny


@dataclass(frozen=True)
class Architecture:
    """What became of one model type: `outcome` is read, refused, or not built."""

    model_type: str
    outcome: str
    words: str  # read as what, or why not
    comparison: Comparison | None = None


def text_types() -> list[str]:
    """List the model types of transformers that read or write text."""
    from transformers.models.auto import modeling_auto as auto

    heads = ("CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM")
    names = [set(getattr(auto, f"MODEL_FOR_{head}_MAPPING_NAMES")) for head in heads]
    towers = {name for name in ROTARY if name in auto.MODEL_MAPPING_NAMES}
    return sorted(set().union(*names) | towers)


def survey(model_types: Iterable[str] | None = None) -> Iterator[Architecture]:
    """Read each model type, and compare what was read with the model built tiny."""
    for model_type in text_types() if model_types is None else model_types:
        yield examine(model_type)


def examine(model_type: str) -> Architecture:
    """Read one model type, built tiny, and compare it with its model."""
    try:
        config = tiny_config(model_type, **AS_IN_CHECKPOINTS.get(model_type, {}))
    except Exception as problem:  # what a config class of transformers may raise is open
        return Architecture(model_type, "not built", _first_line(problem))
    try:
        encodings = read_config(config)
    except ValueError as refusal:
        return Architecture(model_type, "refused", _first_line(refusal))
    if text_config(config) is not config:
        inner = text_config(config).model_type
        return Architecture(model_type, "read", f"its text model, {inner}")
    try:
        model = build_small(config)
    except Exception as problem:
        return Architecture(model_type, "not built", _first_line(problem))
    encodings = read(model)
    return Architecture(model_type, "read", describe(model, encodings), prove(model, encodings))


def build_small(config: Any) -> Any:
    """Build the model of a tiny config with shaken random weights."""
    config._attn_implementation = "eager"
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in model_class(config)(config).parameters())
    if weights > MAX_WEIGHTS:
        raise MemoryError(f"{weights:,} weights with the small sizes")
    model: Any = build(config)
    shake(model)
    if hasattr(model, "set_default_language"):
        model.set_default_language("en_XX")
    return model


def describe(model: Any, encodings: Sequence[Encoding]) -> str:
    """Say what a model was read as, in a few words.

    Encodings that differ between layers are told with the number of layers that each has.
    """
    kinds: dict[str, int] = {}
    for encoding in encodings:
        words = _describe_one(encoding)
        kinds[words] = kinds.get(words, 0) + 1
    start = first_position(model) if "learned" in next(iter(kinds)) else 0
    from_start = f", positions from {start}" if start else ""
    if len(kinds) == 1:
        return next(iter(kinds)) + from_start
    return "; ".join(f"{words} ({count} layers)" for words, count in kinds.items()) + from_start


def _describe_one(encoding: Encoding) -> str:
    if isinstance(encoding, Nothing):
        return "none, query_temperature" if encoding.query_temperature else "none"
    name = str(encoding.config()["name"])
    if not isinstance(encoding, Rotary):
        sides = getattr(encoding, "sides", None)
        return f"{name}, sides={sides}" if sides else name
    words = [name, encoding.pairing]
    if encoding.width < encoding.shape.head:
        words.append(f"{encoding.width} of {encoding.shape.head} dimensions")
    if encoding.sections:
        words.append(f"sections {encoding.section_layout}")
    if encoding.scaling:
        words.append(str(encoding.scaling.config()["type"]))
    if encoding.query_temperature:
        words.append("query_temperature")
    words.append(f"base {encoding.base:g}")
    return ", ".join(words)


def _first_line(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[0] if lines else type(problem).__name__
