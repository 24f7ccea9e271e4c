"""Nearness: how the score falls, or does not, with distance, all else equal."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.certification.probe import Probe, PropertyResult, show
from locant.encodings.base import Encoding, overrides, senses

NAME = "nearness"
SENTENCE = "A nearer key never scores lower than a farther one on the same side, all else equal."
CLAIM = "prefers_near"
BOUND = 1e-6
WHY = "any rise with distance beyond float32 rounding breaks the claim"


def measure(probe: Probe) -> PropertyResult:
    reach = min(400, probe.last // 2)
    curve = score_by_distance(probe, probe.original(), reach)
    if curve is None or float(curve.max() - curve.min()) == 0:
        return PropertyResult(False, "flat", "Distance changes no score at all.", {})
    span = float(curve.max() - curve.min())
    turns, rises = [], []
    sides = [curve[:, : reach + 1].flip(1), curve[:, reach:]]  # from distance 0 outwards
    if probe.encoding.causal_only:
        del sides[1]  # no key ahead is ever seen
    for side in sides:
        rise = (side[:, 1:] - side[:, :-1]) / span
        rises.append(float(rise.max()))
        up = (rise > BOUND).any(0).nonzero()
        turns.append(int(up[0]) + 1 if len(up) else None)
    first = min((turn for turn in turns if turn is not None), default=None)
    far = curve[:, reach + reach // 2 :]
    tail = float(far.max() - curve.min()) / span
    if first is None:
        where = "behind the query" if probe.encoding.causal_only else "on both sides"
        message = f"The score never rises with distance, up to {reach} {where}."
    else:
        message = (
            f"Not monotone: the score first rises again at distance {first}, by up to "
            f"{show(max(rises))} of its span; "
        )
        message += f"beyond {reach // 2} it still comes back to {show(tail)} of the span."
    return PropertyResult(
        first is None,
        "mono" if first is None else f"@{first}",
        message,
        {"first_turn": first, "tail": tail},
    )


def score_by_distance(probe: Probe, encoding: Encoding, reach: int) -> Tensor | None:
    """Scores of one query against equal keys at −reach..reach: (rows, 2·reach + 1); None when
    positions play no part.

    For what is added to the input it is the dot product of the two positions' vectors.
    """
    middle, around = probe.at(torch.tensor([reach])), probe.at(torch.arange(2 * reach + 1))
    shape = encoding.shape
    rows = []
    if overrides(encoding, "embed"):
        vectors = encoding.embed(torch.zeros(1, 2 * reach + 1, shape.dim), around)[0]
        rows.append((vectors @ vectors[reach])[None])
    q, k = (
        torch.ones(1, shape.heads, 1, shape.head),
        torch.ones(1, shape.heads, 2 * reach + 1, shape.head),
    )
    scores = torch.zeros(1, shape.heads, 1, 2 * reach + 1)
    if overrides(encoding, "rotate"):
        turned_q, turned_k = encoding.rotate(q, k, middle, around)
        scores = scores + turned_q @ turned_k.mT / shape.head**0.5
    bias = encoding.bias(middle, around)
    if bias is not None:
        scores = scores + bias
    if senses(encoding):
        state = encoding.sense(torch.ones(1, 2 * reach + 1, shape.dim), around)
        assert state is not None
        found = encoding.state_bias(middle, around, state[..., reach : reach + 1, :], state)
        scores = scores if found is None else scores + found
    if overrides(encoding, "rescore"):
        scores = scores + encoding.rescore(q @ k.mT, q, k, middle, around) - q @ k.mT
    rows.append(scores[0, :, 0])
    return torch.cat(rows).detach()
