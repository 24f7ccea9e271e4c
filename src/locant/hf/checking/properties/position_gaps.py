"""A gap in position_ids does not cut a sequence in two."""

from __future__ import annotations

import torch

from locant.certification.certificate import FAILS, HOLDS
from locant.certification.probe import relative, show
from locant.hf.checking.model_probe import CAUSAL, SMALLEST_EFFECT, ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply

NAME = "gaps"
SENTENCE = "Tokens behind a gap in position_ids still see the tokens before it."
BOUND = SMALLEST_EFFECT
WHY = "the first token changes the last output by far more than rounding wherever it is seen"
REMEDY = (
    "Pass attention_mask, of ones where nothing is padded: position_ids are then read as positions "
    "and not as borders between packed sequences."
)
COUNT, GAP = 10, 3


def measure(probe: ModelProbe) -> ModelResult:
    if probe.kind != CAUSAL:
        return does_not_apply("Only decoders read position_ids as borders of packed sequences.")
    why_not = probe.need_positions()
    if why_not:
        return does_not_apply(why_not)
    ids = probe.tokens(COUNT)
    other = ids.clone()
    other[0, 0] = probe.other_token(ids[0, 0])
    positions = probe.positions(COUNT, probe.first_position)
    gap = positions + GAP * (torch.arange(COUNT, device=ids.device) >= COUNT // 2)
    effects = {}
    for name, given in (("without a gap", positions), ("with a gap", gap)):
        before, after = (probe.run(row, position_ids=given)[:, -1] for row in (ids, other))
        effects[name] = relative(after, before)
    is_seen = effects["with a gap"] > SMALLEST_EFFECT
    message = (
        f"The first token changes the last output by {show(effects['with a gap'])} of its size "
        f"with a gap in position_ids, and by {show(effects['without a gap'])} without one."
    )
    verdict = HOLDS if is_seen else FAILS
    return ModelResult(verdict, show(effects["with a gap"]), message, effects)
