"""`.to(torch.bfloat16)` leaves the rotary frequencies as they are."""

from __future__ import annotations

import torch

from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors
from locant.hf.checking.properties import bfloat16_far
from locant.hf.checking.properties._rotary_modules import far_errors, rotary_calls

NAME = "cast"
SENTENCE = "After model.to(torch.bfloat16), cosines and sines are right at far positions as well."
BOUND, WHY = bfloat16_far.BOUND, bfloat16_far.WHY
REMEDY = (
    "Load the model with from_pretrained(…, dtype=torch.bfloat16), which keeps its frequencies in "
    "float32, instead of casting it with .to(torch.bfloat16), .bfloat16() or .half()."
)


def measure(probe: ModelProbe) -> ModelResult:
    calls = rotary_calls(probe)
    if not calls:
        return does_not_apply(bfloat16_far.NO_ROTARY)
    errors = far_errors(probe, probe.cast(torch.bfloat16), calls)
    return judge_errors(errors, bound=BOUND, what="Cosines and sines")
