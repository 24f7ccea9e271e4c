"""A row does not change beside a longer row."""

from __future__ import annotations

import torch

from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, judge_errors
from locant.hf.checking.properties._dynamic import COUNT, border, fresh_run, scaling_refused

NAME = "beside-long"
SENTENCE = "Beside a row past the trained length, a short row gives what it gives alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Use a scaling whose frequencies are fixed (linear, yarn), or batch rows of one length."


def measure(probe: ModelProbe) -> ModelResult:
    refused = scaling_refused(probe)
    if refused is not None:
        return refused
    short, long = probe.tokens(COUNT), probe.tokens(COUNT, more=1)
    near, far = probe.positions(COUNT), probe.positions(COUNT, 2 * border(probe))
    together = fresh_run(probe, torch.cat([short, long]), torch.cat([near, far]))
    alone = fresh_run(probe, short, near)
    return judge_errors({"in the short row": relative(together[:1], alone)})
