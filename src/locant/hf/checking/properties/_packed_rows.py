"""Two sequences one after the other in one row: does the second give what it gives alone?"""

from __future__ import annotations

import torch
from torch import Tensor

from locant.certification.probe import relative
from locant.hf.checking.model_probe import CAUSAL, ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors

FIRST, SECOND = 6, 8  # tokens of the two sequences


def packed(probe: ModelProbe) -> tuple[Tensor, Tensor]:
    """Return the packed row (1, T) and its position_ids, which start anew."""
    ids = torch.cat([probe.tokens(FIRST), probe.tokens(SECOND, more=1)], 1)
    start = probe.first_position
    positions = [probe.positions(count, start) for count in (FIRST, SECOND)]
    return ids, torch.cat(positions, 1)


def packing_errors(probe: ModelProbe, got: Tensor) -> dict[str, float]:
    """How far the outputs of a packed row are from those of each sequence alone."""
    ids, _ = packed(probe)
    first, second = probe.run(ids[:, :FIRST]), probe.run(ids[:, FIRST:])
    return {
        "in the first sequence": relative(got[:, :FIRST], first),
        "in the second sequence": relative(got[:, FIRST:], second),
    }


def judge_packing(probe: ModelProbe, got: Tensor) -> ModelResult:
    """Judge what packing changes; a recurrent state crosses the border by nature."""
    nature = probe.nature_of_mixers("the border of the two sequences")
    return judge_errors(packing_errors(probe, got), nature=nature)


def packing_refused(probe: ModelProbe) -> ModelResult | None:
    """Return why position_ids cannot say where a sequence begins; None where they can."""
    if probe.kind != CAUSAL:
        return does_not_apply("Nothing promises that an encoder parts sequences by position_ids.")
    why_not = probe.need_positions()
    return does_not_apply(why_not) if why_not else None
