"""Packing by position_ids with default arguments keeps sequences apart."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult
from locant.hf.checking.properties._packed_rows import judge_packing, packed, packing_refused

NAME = "packed"
SENTENCE = "model(input_ids, position_ids) of packed sequences gives what each gives alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = (
    "Pass use_cache=False, if packed-off holds: with a cache, position_ids that start anew do not "
    "part sequences. Else give a 4-D block mask (see blocks) or run the sequences as rows."
)


def measure(probe: ModelProbe) -> ModelResult:
    refused = packing_refused(probe)
    if refused is not None:
        return refused
    ids, positions = packed(probe)
    return judge_packing(probe, probe.run_default(ids, position_ids=positions))
