"""Right padding changes nothing, with position_ids and without."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult
from locant.hf.checking.properties._padded_rows import judge_padding, padding_errors

NAME = "right"
SENTENCE = "A row padded on the right, with attention_mask, gives what it gives alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Run rows of one length together."


def measure(probe: ModelProbe) -> ModelResult:
    errors = padding_errors(probe, "right")
    if probe.obeys_positions:
        with_ids = padding_errors(probe, "right", with_positions=True)
        errors |= {f"{case}, with position_ids": error for case, error in with_ids.items()}
    return judge_padding(probe, errors)
