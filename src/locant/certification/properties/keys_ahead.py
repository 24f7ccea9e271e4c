"""Causal only: what keys ahead of a query are given is of no use, so a mask must hide them."""

from __future__ import annotations

import math

from torch import Tensor

from locant.certification.probe import Probe, PropertyResult
from locant.certification.properties.nearness import score_by_distance

NAME = "ahead"
SENTENCE = "Keys ahead of the query are given nothing that attention could use: it is for decoders."
CLAIM = "causal_only"
BOUND = "hidden, all alike, or preferred the more the farther ahead they are"
WHY = "numbers that tell how far ahead a key is, and draw attention to no end, serve an encoder too"
REACH = 400


def measure(probe: Probe) -> PropertyResult:
    curve = score_by_distance(probe, probe.randomized(), min(REACH, probe.last // 2))
    outcome = "in use" if curve is None else _outcome(curve[:, curve.shape[1] // 2 :])
    message = {
        "hidden": "Keys ahead are hidden.",
        "alike": "All keys ahead get the same score: how far ahead is not told.",
        "prefers far": "A key scores the higher, the farther ahead it is.",
        "in use": "Keys ahead get numbers that tell how far they are, as keys behind do.",
    }[outcome]
    return PropertyResult(outcome != "in use", outcome, message)


def _outcome(ahead: Tensor) -> str:
    """Name what scores (rows, distances) from the query on ahead look like.

    >>> _outcome(torch.tensor([[0.0, 1.0, 2.0]])), _outcome(torch.tensor([[3.0, 1.0, 1.0]]))
    ('prefers far', 'alike')
    """
    others = ahead[:, 1:]
    if bool((others == -math.inf).all()):
        return "hidden"
    if bool((others == others[:, :1]).all()):
        return "alike"
    return "prefers far" if bool((ahead.diff(dim=1) > 0).all()) else "in use"
