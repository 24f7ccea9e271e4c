"""Beyond its length: it has values of its own there, or refuses; never the value of another
position."""

from __future__ import annotations

import torch

from locant.certification.probe import BY_ORDER, FAR, Probe, PropertyResult, signature
from locant.encodings.base import Encoding

NAME = "beyond"
SENTENCE = "It has a value at any position, also past the length it was made for."
CLAIM = "extrapolates"
BOUND = "finite values to position 10⁶; or a refusal. Never the value of another position"
WHY = "a table that gives its last vector to every later position would look as if it worked"


def measure(probe: Probe) -> PropertyResult:
    if not probe.encoding.goes_by_positions:
        return PropertyResult(None, "–", BY_ORDER)
    length = probe.encoding.shape.length
    encoding = probe.randomized()
    past = probe.at(torch.tensor([length, length + 5, 4 * length, FAR + 1]))
    for outside, start in ((length + 5, length), (-1, 0)):
        owner = _owner(probe, encoding, outside, start)
        if owner is not None:
            message = f"Position {outside} is given the value of position {owner} in silence."
            return PropertyResult(None, "clips", message, {"clips": True})
    try:
        values = signature(encoding, past, past[:1])
    except (ValueError, IndexError) as problem:
        message = f"Refuses past position {length - 1}: {str(problem).splitlines()[0]}"
        return PropertyResult(False, "refuses", message, {"outcome": "refuses"})
    finite = bool(torch.isfinite(values).all())
    if finite and bool((values == values[0]).all()):
        message = "Every position gets the same, so there is no value past the length to look at."
        return PropertyResult(None, "–", message, {"outcome": "same"})
    outcome = "finite" if finite else "not finite"
    message = (
        f"Positions {length} to {FAR + 1:,}, past the length of {length}, get values that are "
        f"{outcome}."
    )
    return PropertyResult(finite, outcome, message, {"outcome": outcome})


def _owner(probe: Probe, encoding: Encoding, outside: int, start: int) -> int | None:
    """The position inside whose value one outside is given, seen from many keys; None when it has
    its own or none."""
    length = encoding.shape.length
    if not encoding.tells_order:
        return None
    ends = torch.cat(
        [torch.arange(min(length, 64)), torch.arange(max(0, length - 64), length)]
    ).unique()
    inside = (
        ends if outside >= 0 else ends[-1:]
    )  # before 0 a table's end is what a negative index gives
    keys = probe.at(
        torch.arange(start, start + min(640, length))
    )  # so many that no mirror image looks alike
    try:
        row = signature(encoding, probe.at(torch.tensor([outside])), keys)
        rows = signature(encoding, probe.at(inside), keys)
    except (ValueError, IndexError):
        return None
    same = (rows == row).all(1).nonzero()
    return int(inside[same[0]]) if len(same) else None
