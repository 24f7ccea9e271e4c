"""One way to compute attention held against eager, under left padding."""

from __future__ import annotations

import torch

from locant.certification.probe import relative
from locant.hf.checking.model_probe import ENCODER_DECODER, ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply, judge_errors
from locant.hf.checking.properties._padded_rows import padded_batch, positions_of


def against_eager(probe: ModelProbe, implementation: str) -> ModelResult:
    """Judge how far outputs of real tokens are from those that eager attention gives."""
    found = {}
    for name in ("eager", implementation):
        try:
            with probe.attention(name):
                found[name] = {side: _real_outputs(probe, side) for side in ("left", "right")}
        except (ValueError, ImportError) as problem:
            first = str(problem).strip().splitlines()[0]
            return does_not_apply(f"It has no {name} attention: {first}")
    return judge_errors(
        {
            f"padded on the {side}": relative(found[implementation][side], wanted)
            for side, wanted in found["eager"].items()
        }
    )


def _real_outputs(probe: ModelProbe, side: str) -> torch.Tensor:
    ids, mask = padded_batch(probe, side)
    if probe.kind == ENCODER_DECODER:
        target = probe.tokens(6, more=2).expand(2, -1)
        return probe.run(target, source=ids, attention_mask=mask)
    given = {}
    if probe.obeys_positions:
        given["position_ids"] = positions_of(mask, probe.first_position)
    return probe.run(ids, attention_mask=mask, **given)[mask.bool()]
