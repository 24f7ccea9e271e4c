"""No output of a decoder depends on a later token."""

from __future__ import annotations

from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ENCODER, ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors

NAME = "causal"
SENTENCE = "No output depends on a later token."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = (
    "Check that the config makes it a decoder (is_decoder, causal); else outputs of training and "
    "of decoding cannot agree."
)
COUNT = 12


def measure(probe: ModelProbe) -> ModelResult:
    if probe.kind == ENCODER:
        return does_not_apply("It sees both sides: every output may depend on every token.")
    ids = probe.tokens(COUNT)
    full, errors = probe.run(ids), {}
    for change in (COUNT // 2, COUNT - 1):
        other = ids.clone()
        other[0, change:] = probe.tokens(COUNT - change, more=7)
        other[0, change] = probe.other_token(ids[0, change])
        case = f"before token {change}, when it and all later tokens change"
        errors[case] = relative(probe.run(other)[:, :change], full[:, :change])
    return judge_errors(errors)
