"""Real-valued positions are smooth: nothing jumps between whole numbers."""

from __future__ import annotations

import torch

from locant.certification.probe import Probe, PropertyResult, signature

NAME = "smooth"
SENTENCE = "Between whole numbers the value changes smoothly, without a jump."
CLAIM = "real_positions"
BOUND = 0.2
WHY = (
    "of twenty steps across one position none may make more than a fifth of the way; a rounded "
    "position makes it all in one"
)


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.randomized()
    if not encoding.tells_order:
        return PropertyResult(True, "0", "Positions play no part, so nothing can jump.")
    worst = 0.0
    for start in (2.0, min(100.0, probe.last - 2.0)):
        step = torch.linspace(0, 1, 21, dtype=torch.float64)
        pos = probe.at(torch.full_like(step, start))
        pos = pos + (step if encoding.axes == 1 else step[:, None])  # along every axis
        try:
            rows = signature(encoding, pos, probe.at(torch.arange(2, dtype=torch.float64)))
        except (ValueError, IndexError, RuntimeError, TypeError) as problem:
            return PropertyResult(
                False, "refuses", f"Refuses real-valued positions: {str(problem).splitlines()[0]}"
            )
        steps = (rows[1:] - rows[:-1]).norm(dim=1)
        worst = max(worst, float(steps.max() / steps.sum().clamp_min(1e-30)))
        if float(steps.sum()) == 0:
            return PropertyResult(
                False,
                "flat",
                f"Nothing changes between {start:g} and {start + 1:g}: positions are rounded.",
            )
    message = (
        f"The largest of twenty steps across one position makes {worst:.0%} of the way (5% when "
        "even)."
    )
    return PropertyResult(worst <= BOUND, f"{worst:.0%}", message, {"largest_step": worst})
