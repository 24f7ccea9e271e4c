"""Decoding piece by piece from a cache, held against one full pass."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

from locant.certification.probe import relative
from locant.hf.checking.model_probe import ENCODER, ModelProbe, cache_of, outputs
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors, not_judged

COUNT = 12
ROUNDING = 0.02  # what rounding in a recurrent state can grow to over a few tokens


def decode(probe: ModelProbe, cuts: Sequence[int]) -> ModelResult:
    """Decode a row in pieces that end at `cuts`, and judge how far it is from a full pass."""
    if probe.kind == ENCODER:
        return does_not_apply("It is an encoder: it has no cache to go on from.")
    ids = probe.tokens(COUNT)
    pieces = []
    cache: dict[str, Any] = {}
    for begin, end in pairwise(cuts):
        result = probe.call(ids[:, begin:end], use_cache=True, **cache)
        found = cache_of(result)
        if found is None:
            return not_judged("It returns no cache under a name that is known here.")
        cache = dict([found])
        pieces.append(outputs(result))
    error = relative(torch.cat(pieces, 1), probe.run(ids))
    nature = ""
    if probe.other_mixers and error < ROUNDING:
        nature = "By nature: a state kept step by step rounds otherwise than one computed at once."
    case = f"in pieces that end at tokens {', '.join(map(str, cuts[1:]))}"
    return judge_errors({case: error}, nature=nature)
