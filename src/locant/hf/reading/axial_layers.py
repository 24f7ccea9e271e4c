"""Reading the rotary encoding of a vision tower: pairs shared out over height and width."""

from __future__ import annotations

from typing import Any

from locant.encodings.base import Encoding
from locant.encodings.rotary import Rotary
from locant.shapes import Shape


def read_axial(config: Any) -> list[Encoding]:
    """Read the encoding of a vision tower's config, one for all layers.

    Positions have two numbers, (height, width) of a patch: `locant.positions.grid`.
    """
    rope = dict(config.rope_parameters)
    unknown = sorted(set(rope) - {"rope_type", "type", "rope_theta"})
    if rope.get("rope_type") != "axial" or unknown:
        what = ", ".join(unknown) or f"rope_type={rope.get('rope_type')!r}"
        raise ValueError(
            f"the rope parameters of {config.model_type} say {what}; its model knows only "
            "rope_type='axial' with rope_theta."
        )
    heads = int(_first(config, "num_heads", "num_attention_heads"))
    dim = int(_first(config, "embed_dim", "hidden_size"))
    encoding = Rotary(Shape(dim, heads), axes=2, base=float(rope["rope_theta"]))
    return [encoding] * int(_first(config, "depth", "num_hidden_layers"))


def _first(config: Any, *names: str) -> Any:
    """Return the first of several attributes that a config has."""
    return next(value for name in names if (value := getattr(config, name, None)) is not None)
