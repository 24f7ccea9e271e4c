"""Left padding with attention_mask alone changes nothing."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult
from locant.hf.checking.properties._padded_rows import judge_padding, padding_errors

NAME = "left-mask"
SENTENCE = "Padded on the left, with nothing but attention_mask, a row gives what it gives alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = (
    "Pass position_ids = (attention_mask.cumsum(1) - 1).clamp(min=0) with every padded batch "
    "(`generate` does so by itself), or pad on the right."
)


def measure(probe: ModelProbe) -> ModelResult:
    return judge_padding(probe, padding_errors(probe, "left"))
