"""Built on the meta device, a model is whole once its weights are loaded."""

from __future__ import annotations

import copy

import torch
from torch import nn

from locant.certification.certificate import FAILS
from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, judge_errors

NAME = "meta"
SENTENCE = "Built on the meta device, then to_empty and load_state_dict: it gives what it gave."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = (
    "Load with from_pretrained, which computes these buffers anew; or copy them over from a model "
    "that was built on the CPU."
)


def measure(probe: ModelProbe) -> ModelResult:
    ids = probe.tokens(10)
    model, missing = _rebuilt(probe)
    try:
        error = relative(probe.run(ids, model), probe.run(ids))
    except (IndexError, RuntimeError):  # what to_empty left is no valid index
        error = float("inf")
    result = judge_errors({"once only its weights are loaded": error})
    if result.verdict == FAILS and missing:
        listed = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
        message = f"{result.message} Not among its weights, and left empty: {listed}."
        return ModelResult(FAILS, result.value, message, result.numbers)
    return result


def _rebuilt(probe: ModelProbe) -> tuple[nn.Module, list[str]]:
    """Build the model on the meta device, give it memory, load its weights; what `to_empty` leaves
    undefined is filled, so that no old memory can hide it."""
    with torch.device("meta"):
        model = type(probe.model)(copy.deepcopy(probe.model.config))
    probe.need_weights_of(model)
    model.to_empty(device=probe.model.device)
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.fill_(float("nan") if tensor.is_floating_point() else 1)
    state = probe.model.state_dict()
    model.load_state_dict(state, strict=False)
    model.tie_weights()
    missing = [name for name, _ in model.named_buffers() if name not in state]
    return model.eval(), missing
