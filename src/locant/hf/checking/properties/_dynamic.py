"""Rotary frequencies that depend on the length of a call: which positions show it."""

from __future__ import annotations

import copy

from torch import Tensor

from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply

COUNT = 10


def scaling_refused(probe: ModelProbe) -> ModelResult | None:
    """Return why lengths cannot matter; None where frequencies depend on them."""
    changing = {one for one in probe.rope_types if "dynamic" in one or one == "longrope"}
    if not changing:
        return does_not_apply("Its frequencies do not depend on the length of a call.")
    why_not = probe.need_positions()
    return does_not_apply(why_not) if why_not else None


def border(probe: ModelProbe) -> int:
    """The position from which on the frequencies change."""
    for module in probe.model.modules():
        length = getattr(module, "original_max_seq_len", None)
        if isinstance(length, int):
            parameters = getattr(probe.config, "rope_parameters", None) or {}
            return int(parameters.get("original_max_position_embeddings") or length)
    return probe.length or 1


def fresh_run(probe: ModelProbe, ids: Tensor, positions: Tensor) -> Tensor:
    """Run a model that has seen no other call."""
    return probe.run(ids, copy.deepcopy(probe.model), position_ids=positions)
