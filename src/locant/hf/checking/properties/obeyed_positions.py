"""position_ids that are accepted are used."""

from __future__ import annotations

from locant.certification.certificate import FAILS, HOLDS
from locant.certification.probe import show
from locant.hf.checking.model_probe import SMALLEST_EFFECT, ModelProbe
from locant.hf.checking.model_result import ModelResult, by_nature, does_not_apply

NAME = "obeyed"
SENTENCE = "Other position_ids give other outputs: they are not accepted and then ignored."
BOUND = SMALLEST_EFFECT
WHY = "positions twice as far apart change the outputs by far more than rounding"
REMEDY = "Do not pass position_ids; mask what must not be seen, and pad as its documentation says."


def measure(probe: ModelProbe) -> ModelResult:
    effect = probe.effect_of_positions
    if effect is None:
        return does_not_apply(probe.need_positions())
    message = f"Doubled position_ids change the outputs by {show(effect)} of their size."
    if effect > SMALLEST_EFFECT:
        return ModelResult(HOLDS, show(effect), message, {"effect": effect})
    if probe.without_positions:
        return by_nature("0", f"{message} By nature: its attention gets no positions at all.")
    message += " It accepts them without a word and counts tokens by itself."
    return ModelResult(FAILS, show(effect), message, {"effect": effect})
