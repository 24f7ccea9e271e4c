"""Decoding token by token from a cache gives what a full pass gives."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult
from locant.hf.checking.properties._decoding import COUNT, decode

NAME = "cached"
SENTENCE = "Token by token from a cache, without position_ids, gives what a full pass gives."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Pass position_ids with every step, as `generate` does, or decode with use_cache=False."


def measure(probe: ModelProbe) -> ModelResult:
    return decode(probe, range(COUNT + 1))
