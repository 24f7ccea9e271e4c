"""flex attention gives what eager attention gives, under padding."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, not_judged
from locant.hf.checking.properties._implementations import against_eager

NAME = "flex"
SENTENCE = "flex attention gives the real tokens of a padded batch what eager attention gives them."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = 'Load it with attn_implementation="sdpa" or "eager".'


def measure(probe: ModelProbe) -> ModelResult:
    if probe.effort.name != "full":
        return not_judged("Not measured: it is compiled for a minute; --full measures it.")
    return against_eager(probe, "flex_attention")
