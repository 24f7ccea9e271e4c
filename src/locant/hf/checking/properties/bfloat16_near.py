"""bfloat16 gives what float32 gives, up to rounding."""

from __future__ import annotations

import torch

from locant.certification.probe import relative
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, judge_errors

NAME = "bfloat16"
SENTENCE = "Loaded in bfloat16 it gives what float32 gives, up to rounding, over a few tokens."
BOUND = 0.5
WHY = "roundings of 2⁻⁹ add up to some tenths at worst; a wrong output is off by its own size"
REMEDY = "Keep what overflows or cancels in float32, or run the model in float32."


def measure(probe: ModelProbe) -> ModelResult:
    nature = ""
    if probe.is_routed:
        nature = "By nature: rounding sends a token to another expert now and then."
    ids = probe.tokens(10)
    half = probe.run(ids, probe.loaded(torch.bfloat16))
    error = relative(half.float(), probe.run(ids))
    return judge_errors({"at positions from 0 on": error}, nature=nature, bound=BOUND)
