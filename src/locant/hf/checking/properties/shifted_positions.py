"""Moving all position_ids by the same amount changes nothing."""

from __future__ import annotations

from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors

NAME = "shifted"
SENTENCE = "Moving all position_ids by the same amount changes nothing."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Count positions from the same number in training and in use."
COUNT = 10


def measure(probe: ModelProbe) -> ModelResult:
    why_not = probe.need_positions()
    if why_not:
        return does_not_apply(why_not)
    nature = probe.nature_of_mixers("positions that it counts from 0")
    if probe.adds_positions:
        nature = "By nature: it adds a vector for each absolute position to its input."
    if probe.scales_by_position:
        nature = "By nature: its queries grow with their absolute position."
    ids, start = probe.tokens(COUNT), probe.first_position
    room = (probe.length or 1000) - start - COUNT
    wanted = probe.run(ids, position_ids=probe.positions(COUNT, start))
    errors = {}
    for shift in sorted({min(7, room), min(40, room)}):
        moved = probe.run(ids, position_ids=probe.positions(COUNT, start + shift))
        errors[f"moved by {shift}"] = relative(moved, wanted)
    return judge_errors(errors, nature=nature)
