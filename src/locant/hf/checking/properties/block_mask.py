"""Packing by a 4-D block mask keeps sequences apart."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.certification.certificate import FAILS
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import CAUSAL, ENCODER_DECODER, ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply
from locant.hf.checking.properties._packed_rows import FIRST, SECOND, judge_packing, packed

NAME = "blocks"
SENTENCE = "Packed sequences, parted by a 4-D attention_mask of blocks, give what each gives alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Run the sequences as rows of a batch."


def measure(probe: ModelProbe) -> ModelResult:
    if probe.kind == ENCODER_DECODER:
        return does_not_apply("Its rows are pairs of a source and a target; they are not packed.")
    ids, positions = packed(probe)
    mask = _additive_mask(causal=probe.kind == CAUSAL).to(ids.device)
    given = {"position_ids": positions} if probe.obeys_positions else {}
    result = judge_packing(probe, probe.run(ids, attention_mask=mask, **given))
    if result.verdict == FAILS and not given:
        return does_not_apply(
            f"{probe.need_positions()} So the second sequence cannot start anew. {result.message}"
        )
    return result


def _additive_mask(*, causal: bool) -> Tensor:
    """A mask (1, 1, T, T) of two blocks: 0 where a key may be seen, else the least float32."""
    sequence = torch.tensor([0] * FIRST + [1] * SECOND)
    may_see = sequence[:, None] == sequence[None, :]
    if causal:
        may_see = may_see.tril()
    return torch.where(may_see, 0.0, torch.finfo(torch.float32).min)[None, None]
