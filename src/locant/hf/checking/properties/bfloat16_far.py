"""Loaded in bfloat16, rotary angles stay right at far positions."""

from __future__ import annotations

import torch

from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors
from locant.hf.checking.properties._rotary_modules import far_errors, rotary_calls

NAME = "far"
SENTENCE = "Loaded in bfloat16, cosines and sines are right at positions 1,000, 8,000 and 64,000."
BOUND = 0.02
WHY = "a cosine rounded to bfloat16 is off by 0.004; a rounded angle or frequency by radians"
REMEDY = "Compute positions, frequencies and angles in float32, and round cosines and sines last."
NO_ROTARY = "No module of it has rotary frequencies (inv_freq) and takes positions."


def measure(probe: ModelProbe) -> ModelResult:
    calls = rotary_calls(probe)
    if not calls:
        return does_not_apply(NO_ROTARY)
    errors = far_errors(probe, probe.loaded(torch.bfloat16), calls)
    return judge_errors(errors, bound=BOUND, what="Cosines and sines")
