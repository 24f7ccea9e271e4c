"""A row does not change with the rows beside it."""

from __future__ import annotations

import torch

from locant.certification.probe import relative
from locant.hf.checking import model_result
from locant.hf.checking.model_probe import ModelProbe
from locant.hf.checking.model_result import ModelResult, judge_errors

NAME = "batch"
SENTENCE = "A row gives in a batch of rows of one length what it gives alone."
BOUND, WHY = model_result.BOUND, model_result.WHY
REMEDY = "Run rows one by one where outputs must not depend on the batch."


def measure(probe: ModelProbe) -> ModelResult:
    rows = [probe.tokens(10, more=index) for index in range(3)]
    together = probe.run(torch.cat(rows))
    return judge_errors(
        {f"in row {i}": relative(together[i : i + 1], probe.run(row)) for i, row in enumerate(rows)}
    )
