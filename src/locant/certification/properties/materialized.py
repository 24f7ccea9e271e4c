"""Materialized from meta: after `to_empty` nothing is left of what was in memory."""

from __future__ import annotations

import copy

import torch

from locant.certification.probe import Probe, PropertyResult, largest, seeded, show, signature
from locant.encodings.base import Encoding

NAME = "materialized"
SENTENCE = (
    "Made on the meta device, given memory by to_empty and reset, it has a fresh module's numbers."
)
CLAIM = "law"
BOUND = 0.0
WHY = (
    "large models are made on meta and filled from a checkpoint; a frequency that is in no "
    "checkpoint stays garbage unless reset_parameters writes it"
)


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.original()
    revived = _emptied(encoding)
    with seeded(probe.seed):
        revived.reset_parameters()
    left = sorted(_not_finite(revived) - _not_finite(encoding))
    if left:
        message = f"reset_parameters leaves {', '.join(left)} as memory has it."
        return PropertyResult(False, "garbage", message, {"left": left})
    error = 0.0
    fresh = _fresh(probe, encoding)
    if fresh is not None:
        error = _largest_difference(revived, fresh)
    revived.load_state_dict(encoding.state_dict())
    pos = probe.positions(min(9, probe.last + 1))
    moved = largest(signature(revived, pos, pos), signature(encoding, pos, pos))
    message = (
        f"The numbers after reset_parameters differ from a fresh module's by {show(error)}, and "
        f"what it makes of positions after loading a checkpoint by {show(moved)}."
    )
    return PropertyResult(
        max(error, moved) <= BOUND,
        show(max(error, moved)),
        message,
        {"fresh": error, "load": moved},
    )


def _emptied(encoding: Encoding) -> Encoding:
    """A copy that went to meta and came back, with what memory could hold in its worst form."""
    empty = copy.deepcopy(encoding).to("meta").to_empty(device="cpu")
    for number in (*empty.parameters(), *empty.buffers()):
        number.fill_(float("nan") if number.is_floating_point() else 1)
    return empty


def _fresh(probe: Probe, encoding: Encoding) -> Encoding | None:
    """A module from the constructor, by the same seed; None for what an adapted module is made
    of."""
    try:
        with seeded(probe.seed):
            return encoding.rebuilt().float().eval()
    except ValueError:
        return None


def _not_finite(encoding: Encoding) -> set[str]:
    """The numbers that are not finite, by name."""
    named = [*encoding.named_parameters(), *encoding.named_buffers()]
    return {name for name, number in named if not torch.isfinite(number).all()}


def _largest_difference(one: Encoding, other: Encoding) -> float:
    """The largest difference between the numbers of two encodings of one kind."""
    pairs = zip(
        [*one.parameters(), *one.buffers()], [*other.parameters(), *other.buffers()], strict=True
    )
    return max((largest(a, b) for a, b in pairs if a.numel()), default=0.0)
