"""Order is lost without positions, and restored with them: shuffle the tokens, un-shuffle the
outputs, compare."""

from __future__ import annotations

import torch

from locant.certification.probe import Probe, PropertyResult, show

NAME = "order"
SENTENCE = "Shuffled tokens do not just give shuffled outputs: the order of the tokens is seen."
CLAIM = "tells_order"
BOUND = 1e-4
WHY = (
    "a model that cannot see order moves by float32 rounding alone, below 1e-5; ten times that is "
    "a signal"
)


def measure(probe: Probe) -> PropertyResult:
    count = min(16, probe.last + 1)
    if count < 3:
        return PropertyResult(
            None,
            "–",
            "It has fewer than three positions: two tokens in reverse order are as far apart.",
        )
    x, pos = probe.tokens(count), probe.positions(count)
    largest, means = [], []
    for seed in range(probe.effort.seeds):
        shuffle = _shuffle(count, probe.generator(seed))
        for layers in (1, 2, 4):
            net = probe.model(probe.with_effect(), layers=layers, more=seed)
            net.causal = False  # a causal mask alone would tell order
            moved = (net(x, pos)[:, shuffle] - net(x[:, shuffle], pos)).abs()
            largest.append(float(moved.max()))
            means.append(float(moved.mean()))
    least, most = min(largest), max(largest)
    message = (
        f"Outputs move by {show(least)} to {show(most)} (mean {show(sum(means) / len(means))}) "
        "when tokens are shuffled"
    )
    message += f", over {probe.effort.seeds} seeds and depths 1, 2, 4."
    ok = least > BOUND
    if ok != probe.encoding.tells_order:
        message += " Order is seen, and denied." if ok else " Order is claimed, and not seen."
    return PropertyResult(
        ok, show(least), message, {"least": least, "most": most, "mean": sum(means) / len(means)}
    )


def _shuffle(count: int, draw: torch.Generator) -> torch.Tensor:
    """Draw an order of three tokens or more; the original and its reversal keep every distance and
    are drawn again."""
    original = torch.arange(count)
    while True:
        order = torch.randperm(count, generator=draw)
        if not order.equal(original) and not order.equal(original.flip(0)):
            return order
