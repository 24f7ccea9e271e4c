"""Reading ALiBi from a config: Bloom, MPT, and Falcon where it says so."""

from __future__ import annotations

from typing import Any

from locant.encodings.alibi import Alibi, paper_slopes
from locant.encodings.base import Encoding
from locant.shapes import Shape


def read_alibi(config: Any) -> list[Encoding]:
    """Read the bias by distance of a config's model, one for all layers.

    The models add slope·n for a key at n, which differs from −slope·(m − n) by the same number for
    all keys of a query: the softmax does not see it.
    """
    heads, width = int(config.num_attention_heads), int(config.hidden_size)
    slopes: str | list[float] = "paper"
    if config.model_type == "mpt":
        _refuse_mpt_settings(config.attn_config)
    elif config.model_type == "falcon":  # it divides the bias by √d, as the scores
        slopes = [slope * (width // heads) ** -0.5 for slope in paper_slopes(heads).tolist()]
    length = getattr(config, "max_seq_len", None) or getattr(config, "seq_length", None) or 2048
    encoding = Alibi(Shape(width, heads, int(length)), sides="causal", slopes=slopes)
    return [encoding] * int(config.num_hidden_layers)


def _refuse_mpt_settings(attention: Any) -> None:
    """Raise a ValueError for what an MPT config may say and transformers passes over."""
    alibi, bias_max = getattr(attention, "alibi", True), getattr(attention, "alibi_bias_max", 8)
    if not alibi or bias_max != 8:
        name, value = ("alibi", alibi) if not alibi else ("alibi_bias_max", bias_max)
        raise ValueError(
            f"the config says attn_config.{name}={value!r}, which transformers passes over: its "
            "MPT always adds ALiBi with alibi_bias_max=8.\n  Drop the key to read what "
            "transformers computes."
        )
