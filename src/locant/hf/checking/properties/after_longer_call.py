"""A call does not change with the calls before it."""

from __future__ import annotations

import copy

from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, judge_errors
from locant.hf.checking.properties._dynamic import COUNT, border, fresh_run, scaling_refused

NAME = "after-long"
SENTENCE = "After a longer call, a row gives what it gave before."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Use a scaling whose frequencies are fixed (linear, yarn), or load the model anew."


def measure(probe: ModelProbe) -> ModelResult:
    refused = scaling_refused(probe)
    if refused is not None:
        return refused
    ids, length = probe.tokens(COUNT), border(probe)
    rows = {
        "within the trained length": probe.positions(COUNT, max(0, length - 2 * COUNT)),
        "past the trained length": probe.positions(COUNT, length + COUNT),
    }
    errors = {}
    for case, positions in rows.items():
        model = copy.deepcopy(probe.model)
        probe.run(ids, model, position_ids=probe.positions(COUNT, 4 * length))
        again = probe.run(ids, model, position_ids=positions)
        errors[f"in a row {case}"] = relative(again, fresh_run(probe, ids, positions))
    return judge_errors(errors)
