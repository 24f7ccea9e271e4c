"""Order is lost without positions, and restored with them: shuffle the tokens, un-shuffle the outputs, compare."""

from __future__ import annotations

import torch

from locant.certification.probe import Measured, Subject, show

SENTENCE = "Shuffled tokens do not just give shuffled outputs: the order of the tokens is seen."
CLAIM = "tells_order"
BOUND = 1e-4
WHY = "a model that cannot see order moves by float32 rounding alone, below 1e-5; ten times that is a signal"


def measure(subject: Subject) -> Measured:
    count = min(16, subject.last + 1)
    if count < 3:
        return Measured(
            None,
            "–",
            "It has fewer than three positions: two tokens in reverse order are as far apart.",
        )
    x, pos = subject.tokens(count), subject.places(count)
    largest, means = [], []
    for seed in range(subject.effort.seeds):
        shuffle = _shuffle(count, subject.generator(seed))
        for layers in (1, 2, 4):
            net = subject.model(subject.as_given(), layers=layers, more=seed)
            net.causal = False  # a causal mask alone would tell order
            moved = (net(x, pos)[:, shuffle] - net(x[:, shuffle], pos)).abs()
            largest.append(float(moved.max()))
            means.append(float(moved.mean()))
    least, most = min(largest), max(largest)
    said = f"Outputs move by {show(least)} to {show(most)} (mean {show(sum(means) / len(means))}) when tokens are shuffled"
    said += f", over {subject.effort.seeds} seeds and depths 1, 2, 4."
    ok = least > BOUND
    if ok != subject.encoding.tells_order:
        said += " Order is seen, and denied." if ok else " Order is claimed, and not seen."
    return Measured(
        ok, show(least), said, {"least": least, "most": most, "mean": sum(means) / len(means)}
    )


def _shuffle(count: int, draw: torch.Generator) -> torch.Tensor:
    """Draw an order of three tokens or more; the original and its reversal keep every distance and are drawn again."""
    original = torch.arange(count)
    while True:
        order = torch.randperm(count, generator=draw)
        if not order.equal(original) and not order.equal(original.flip(0)):
            return order
