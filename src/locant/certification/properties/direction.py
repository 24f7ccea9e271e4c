"""Before and after: mirror the sequence, mirror the outputs back."""

from __future__ import annotations

from locant.certification.probe import Probe, PropertyResult, show

NAME = "direction"
SENTENCE = "A key before and a key after, equally far, can be told apart."
CLAIM = "tells_direction"
BOUND = 1e-4
WHY = (
    "what sees distance alone mirrors its outputs to float32 rounding, below 1e-5; ten times that "
    "is a signal"
)


def measure(probe: Probe) -> PropertyResult:
    count = min(13, probe.last + 1)
    moved = []
    for seed in range(probe.effort.seeds):
        net = probe.model(probe.randomized(more=seed), more=seed)
        net.causal = False  # a causal mask alone would tell the sides apart
        x, pos = probe.tokens(count, more=seed), probe.positions(count)
        moved.append(float((net(x, pos).flip(1) - net(x.flip(1), pos)).abs().max()))
    least = min(moved)
    message = f"Mirrored tokens move the mirrored outputs by {show(least)}."
    if least <= BOUND:
        message += (
            " It cannot tell left from right, so an encoder with it cannot learn which of two "
            "marks comes first."
        )
    elif not probe.encoding.tells_direction:
        message += " It can tell left from right, and denies it."
    return PropertyResult(least > BOUND, show(least), message, {"least": least})
