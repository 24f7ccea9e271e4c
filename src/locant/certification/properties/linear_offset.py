"""The offset is linear: PE(p + k) = T_k·PE(p), one matrix for every p, made of 2 × 2 rotations."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.certification.probe import Probe, PropertyResult, show
from locant.encodings.base import overrides

NAME = "offset"
SENTENCE = "Moving by k positions is one linear map of the vector, the same from every position."
CLAIM = "linear_offset"
BOUND = 1e-6
WHY = (
    "the fit is in float64 and tested at positions it has not seen; a true linear map leaves "
    "rounding alone"
)


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.randomized(torch.float64)
    hooks = [hook for hook in ("embed", "rotate") if overrides(encoding, hook)]
    if not hooks:
        return PropertyResult(False, "–", "It has no vectors that could be moved.")
    worst, skew, blocks = 0.0, 0.0, 0.0
    for k in STEPS:
        here, there = _vectors(probe, encoding, 0), _vectors(probe, encoding, k)
        fit = torch.linalg.lstsq(here[::2], there[::2], driver="gelsd").solution
        missed = (here[1::2] @ fit - there[1::2]).norm() / there[1::2].norm()
        worst = max(worst, float(missed))
        stretch = there.norm(dim=1) / here.norm(dim=1)
        skew = max(skew, float((stretch - 1).abs().max()))
        blocks = max(blocks, min(_spread_of_turns(here, there, pairing) for pairing in PAIRINGS))
    message = (
        f"A matrix fitted on every second position misses the others by {show(worst)} of their "
        "length (k = 1, 5); "
    )
    message += f"lengths change by {show(skew)}: " + (
        "pure rotation." if skew < 1e-9 else "not a pure rotation."
    )
    if blocks < 1e-9:
        message += (
            " It is made of 2 × 2 blocks: each pair turns by one angle from every position, to "
            f"{show(blocks)}."
        )
    return PropertyResult(
        worst <= BOUND, show(worst), message, {"missed": worst, "stretch": skew, "blocks": blocks}
    )


STEPS = (1, 5)
PAIRINGS = {  # which dimensions may form a 2 × 2 block
    "neighbours": lambda vectors: (vectors[:, 0::2], vectors[:, 1::2]),
    "halves": lambda vectors: vectors.chunk(2, 1),
}


def _spread_of_turns(here: Tensor, there: Tensor, pairing: str) -> float:
    """How far the turn of each pair differs from position to position: 0 for 2 × 2 rotations."""
    if here.shape[1] % 2:
        return float("inf")
    before, after = (torch.complex(*PAIRINGS[pairing](vectors)) for vectors in (here, there))
    turn = after / before
    spread = float((turn - turn.mean(0)).abs().max())
    return spread if spread == spread else float("inf")  # 0/0: no turn at all


def _vectors(probe: Probe, encoding, shift: int) -> Tensor:  # type: ignore[no-untyped-def]
    """The vector of every position, moved by `shift`: (positions, width)."""
    shape = encoding.shape
    width = shape.dim if overrides(encoding, "embed") else shape.head
    count = min(6 * width, probe.last + 1 - max(STEPS))
    pos = probe.positions(count) + shift
    if overrides(encoding, "embed"):
        return encoding.embed(torch.zeros(1, count, shape.dim, dtype=torch.float64), pos)[0]
    ones = torch.ones(1, shape.heads, count, shape.head, dtype=torch.float64)
    return encoding.rotate(ones, ones, pos, pos)[1][0, 0]
