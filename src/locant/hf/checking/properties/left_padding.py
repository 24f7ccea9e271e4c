"""Left padding with attention_mask and position_ids changes nothing."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply
from locant.hf.checking.properties._padded_rows import judge_padding, padding_errors

NAME = "left"
SENTENCE = (
    "A row padded on the left, with attention_mask and position_ids, gives what it gives alone."
)
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Pad on the right, or run rows of one length together."


def measure(probe: ModelProbe) -> ModelResult:
    why_not = probe.need_positions()
    if why_not:
        return does_not_apply(why_not)
    return judge_padding(probe, padding_errors(probe, "left", with_positions=True))
