"""A cache that grows past the trained length gives what a full pass gives."""

from __future__ import annotations

import copy

import torch

from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import CAUSAL, ModelProbe, cache_of, outputs
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors, not_judged
from locant.hf.checking.properties._dynamic import COUNT, border, fresh_run, scaling_refused

NAME = "long-cache"
SENTENCE = "A cache that grows past the trained length gives what a full pass gives."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Use a scaling whose frequencies are fixed (linear, yarn), or decode without a cache."


def measure(probe: ModelProbe) -> ModelResult:
    refused = scaling_refused(probe)
    if refused is not None:
        return refused
    if probe.kind != CAUSAL:
        return does_not_apply("It is no decoder: it has no cache.")
    ids, half = probe.tokens(COUNT), COUNT // 2
    positions = probe.positions(COUNT, border(probe) - half)  # its middle is the trained length
    model = copy.deepcopy(probe.model)
    first = probe.call(ids[:, :half], model, position_ids=positions[:, :half], use_cache=True)
    cache = cache_of(first)
    if cache is None:
        return not_judged("It returns no cache under a name that is known here.")
    rest = {"position_ids": positions[:, half:], "use_cache": True, cache[0]: cache[1]}
    pieces = [outputs(first), outputs(probe.call(ids[:, half:], model, **rest))]
    full = fresh_run(probe, ids, positions)
    return judge_errors({"across the trained length": relative(torch.cat(pieces, 1), full)})
