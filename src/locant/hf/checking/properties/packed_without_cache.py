"""Packing by position_ids with use_cache=False keeps sequences apart."""

from __future__ import annotations

from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult
from locant.hf.checking.properties._packed_rows import judge_packing, packed, packing_refused

NAME = "packed-off"
SENTENCE = "Packed sequences, by position_ids and with use_cache=False, give what each gives alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Give a 4-D block mask (see blocks), or run the sequences as rows of a batch."


def measure(probe: ModelProbe) -> ModelResult:
    refused = packing_refused(probe)
    if refused is not None:
        return refused
    ids, positions = packed(probe)
    return judge_packing(probe, probe.run(ids, position_ids=positions))
