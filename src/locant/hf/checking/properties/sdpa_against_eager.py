"""sdpa gives what eager attention gives, under padding."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult
from locant.hf.checking.properties._implementations import against_eager

NAME = "sdpa"
SENTENCE = "sdpa gives the real tokens of a padded batch what eager attention gives them."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = 'Load it with attn_implementation="eager".'


def measure(probe: ModelProbe) -> ModelResult:
    return against_eager(probe, "sdpa")
