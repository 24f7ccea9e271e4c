"""Mixing: how long what is added is beside the token, and how far it turns the sum."""

from __future__ import annotations

import math

import torch

from locant.certification.probe import Probe, PropertyResult, show
from locant.encodings.base import overrides

NAME = "mixing"
SENTENCE = (
    "How long the added vector is beside a token's, and by what angle the sum leaves the token."
)
CLAIM = "seen"
BOUND = 0.0
WHY = (
    "nothing is promised; tokens are drawn with standard deviation 0.5, as in common "
    "initialisations"
)


def measure(probe: Probe) -> PropertyResult:
    encoding = probe.original()
    if not overrides(encoding, "embed"):
        return PropertyResult(None, "–", "Nothing is added to the token.")
    token = 0.5 * probe.tokens(min(64, probe.last + 1), batch=1)
    added = encoding.embed(torch.zeros_like(token), probe.positions(token.shape[1]))[
        ..., -token.shape[-1] :
    ]
    lengths = float(token.norm(dim=-1).mean()), float(added.norm(dim=-1).mean())
    turn = angle(token, token + added)
    message = (
        f"Token {show(lengths[0])} long, position {show(lengths[1])}; the sum stands at "
        f"{turn:.1f}° to the token."
    )
    return PropertyResult(
        True,
        f"{turn:.0f}°",
        message,
        {"token": lengths[0], "position": lengths[1], "degrees": turn},
    )


def angle(a: torch.Tensor, b: torch.Tensor) -> float:
    """The mean angle between vectors, in degrees.

    >>> angle(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    45.0
    """
    cosine = torch.nn.functional.cosine_similarity(a.double(), b.double(), dim=-1).clamp(-1, 1)
    return round(float(cosine.arccos().mean()) * 180 / math.pi, 9)


def angle_from_lengths(token: float, position: float, total: float) -> float:
    """The angle between a token and its sum with a position, from three lengths (law of cosines),
    in degrees.

    The tutorial's example:

    >>> round(angle_from_lengths(5.5801, 8.0000, 10.1047), 2)
    52.12
    """
    cosine = (token**2 + total**2 - position**2) / (2 * token * total)
    return math.degrees(math.acos(cosine))
