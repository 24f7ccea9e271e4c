"""Time stamps equal indices when they are regular, and differ when they are not."""

from __future__ import annotations

import numpy as np
import torch

from locant import positions
from locant.certification.probe import Measured, Subject, relative, show

SENTENCE = "Regular time stamps give what indices give, and irregular ones do not."
CLAIM = "real_positions"
BOUND = 1e-4
WHY = "stamps are rebased in float64, so regular ones are the indices up to float32 rounding"


def measure(subject: Subject) -> Measured:
    count = min(12, subject.last // 2)
    net, x = subject.model(subject.stirred()), subject.tokens(count)
    minutes = np.datetime64("2024-03-10T01:30") + np.arange(count) * np.timedelta64(1, "m")
    uneven = minutes + (np.arange(count) // 3) * np.timedelta64(20, "s")
    try:
        regular = net(x, subject.at(positions.timestamps(minutes, unit="min")))
        irregular = net(x, subject.at(positions.timestamps(uneven, unit="min")))
    except (ValueError, IndexError, RuntimeError, TypeError) as problem:
        return Measured(False, "refuses", f"Refuses time stamps: {str(problem).splitlines()[0]}")
    indices = net(x, subject.at(torch.arange(count)))
    error, seen = relative(regular, indices), relative(irregular, indices)
    said = f"Regular stamps differ from indices by {show(error)} of the output's size, irregular ones by {show(seen)}."
    ignored = subject.encoding.tells_order and seen < 1e-6
    if ignored:
        said += " Irregular times are ignored: indices are used in their place."
    return Measured(
        error <= BOUND and not ignored, show(error), said, {"regular": error, "irregular": seen}
    )
