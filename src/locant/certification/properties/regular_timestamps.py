"""Time stamps equal indices when they are regular, and differ when they are not."""

from __future__ import annotations

import numpy as np
import torch

from locant import positions
from locant.certification.probe import Probe, PropertyResult, relative, show

NAME = "timestamps"
SENTENCE = "Regular time stamps give what indices give, and irregular ones do not."
CLAIM = "real_positions"
BOUND = 1e-4
WHY = "stamps are rebased in float64, so regular ones are the indices up to float32 rounding"


def measure(probe: Probe) -> PropertyResult:
    count = min(12, probe.last // 2)
    net, x = probe.model(probe.randomized()), probe.tokens(count)
    minutes = np.datetime64("2024-03-10T01:30") + np.arange(count) * np.timedelta64(1, "m")
    uneven = minutes + (np.arange(count) // 3) * np.timedelta64(20, "s")
    try:
        regular = net(x, probe.at(positions.timestamps(minutes, unit="min")))
        irregular = net(x, probe.at(positions.timestamps(uneven, unit="min")))
    except (ValueError, IndexError, RuntimeError, TypeError) as problem:
        return PropertyResult(
            False, "refuses", f"Refuses time stamps: {str(problem).splitlines()[0]}"
        )
    indices = net(x, probe.at(torch.arange(count)))
    error, seen = relative(regular, indices), relative(irregular, indices)
    message = (
        f"Regular stamps differ from indices by {show(error)} of the output's size, irregular ones "
        f"by {show(seen)}."
    )
    ignored = probe.encoding.tells_order and seen < 1e-6
    if ignored:
        message += " Irregular times are ignored: indices are used in their place."
    return PropertyResult(
        error <= BOUND and not ignored, show(error), message, {"regular": error, "irregular": seen}
    )
