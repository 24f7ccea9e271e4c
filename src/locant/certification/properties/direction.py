"""Before and after: mirror the sequence, mirror the outputs back."""

from __future__ import annotations

from locant.certification.probe import Measured, Subject, show

SENTENCE = "A key before and a key after, equally far, can be told apart."
CLAIM = "tells_direction"
BOUND = 1e-4
WHY = "what sees distance alone mirrors its outputs to float32 rounding, below 1e-5; ten times that is a signal"


def measure(subject: Subject) -> Measured:
    count = min(13, subject.last + 1)
    moved = []
    for seed in range(subject.effort.seeds):
        net = subject.model(subject.stirred(more=seed), more=seed)
        net.causal = False  # a causal mask alone would tell the sides apart
        x, pos = subject.tokens(count, more=seed), subject.places(count)
        moved.append(float((net(x, pos).flip(1) - net(x.flip(1), pos)).abs().max()))
    least = min(moved)
    said = f"Mirrored tokens move the mirrored outputs by {show(least)}."
    if least <= BOUND:
        said += " It cannot tell left from right, so an encoder with it cannot learn which of two marks comes first."
    elif not subject.encoding.tells_direction:
        said += " It can tell left from right, and denies it."
    return Measured(least > BOUND, show(least), said, {"least": least})
