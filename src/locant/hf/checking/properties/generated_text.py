"""`generate` of a padded batch gives what it gives for each row alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import CAUSAL, ENCODER, ModelProbe
from locant.hf.checking.model_result import ModelResult, does_not_apply
from locant.hf.checking.properties._padded_rows import judge_padding, padded_batch

NAME = "generated"
SENTENCE = "`generate` gives a row of a padded batch the logits that the row has alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Generate rows one by one, or in groups of one length."
NEW_TOKENS = 4


def measure(probe: ModelProbe) -> ModelResult:
    if probe.kind == ENCODER:
        return does_not_apply("It is an encoder: it generates nothing.")
    ids, mask = padded_batch(probe, "left" if probe.kind == CAUSAL else "right")
    together = _logits(probe, ids, mask)
    errors = {}
    for index, case in enumerate(("in the row beside the padded one", "in the padded row")):
        row = ids[index][mask[index].bool()][None]
        alone = _logits(probe, row, torch.ones_like(row))
        errors[case] = relative(*_until_tokens_part(together[:, index], alone[:, 0]))
    return judge_padding(probe, errors)


def _logits(probe: ModelProbe, ids: Tensor, mask: Tensor) -> Tensor:
    """The logits of every generated token, (new tokens, B, V)."""
    from transformers import GenerationConfig

    settings: dict[str, Any] = {"do_sample": False, "max_new_tokens": NEW_TOKENS, "num_beams": 1}
    settings |= {"return_dict_in_generate": True, "output_logits": True}
    settings |= {"pad_token_id": probe.pad_token, "eos_token_id": None}
    for key in ("decoder_start_token_id", "bos_token_id"):
        settings[key] = getattr(probe.model.config, key, None) or 1
    result: Any = probe.model.generate(
        ids, attention_mask=mask, generation_config=GenerationConfig(**settings)
    )
    return torch.stack(result.logits)


def _until_tokens_part(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Cut two runs of logits (new tokens, V) behind the first step that chose different tokens:
    later steps go on from other rows."""
    count = min(len(a), len(b))
    same = (a[:count].argmax(-1) == b[:count].argmax(-1)).tolist()
    keep = same.index(False) + 1 if False in same else count
    return a[:keep], b[:keep]
