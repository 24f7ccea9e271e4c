"""How a query and a key are turned, pair by pair, and what becomes of their score."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding
from locant.figures.data.hooks import Array, index, span, turned
from locant.figures.data.planes import turned_pairs
from locant.figures.data.waves import frequencies
from locant.figures.walkthrough.content import contents
from locant.figures.walkthrough.part import Part
from locant.figures.walkthrough.writing import CLOSE, MANY, factor, fixed, plain, product, vector

MOVED = 100  # positions, to see whether the score stays


def work_out(encoding: Encoding, position: float, key: float) -> Part:
    """A query at `position` and a key at `key`, of the first head."""
    head = encoding.shape.head
    q, k = (x.numpy() for x in contents(head))
    q_ends, k_ends = _ends(encoding, q, position, query=True), _ends(encoding, k, key, query=False)
    lines = [f"q = {vector(q, plain)}, k = {vector(k, plain)}"]
    turns, turning = _turns(encoding)
    for pair in turning:
        theta = float(turns[pair[0]])
        lines.append(f"pair {pair} turns by {_over(1, theta)} a position")
        lines.append("  q: " + _moved(q, q_ends, pair, position, theta))
        lines.append("  k: " + _moved(k, k_ends, pair, key, theta))
    lines += [f"q becomes {vector(q_ends[1])}", f"k becomes {vector(k_ends[1])}"]
    scale = head**-0.5
    before, after = scale * float(q @ k), scale * float(q_ends[1] @ k_ends[1])
    lines.append(
        f"score without positions: ({product(q.tolist(), k.tolist())})/√{head} = {fixed(before)}"
    )
    terms = product(q_ends[1].tolist(), k_ends[1].tolist(), fixed)
    lines.append(f"score with positions: ({terms})/√{head} = {fixed(after)}")
    if encoding.extrapolates:
        far = (
            _ends(encoding, q, position + MOVED, query=True)[1]
            @ _ends(encoding, k, key + MOVED, query=False)[1]
            * scale
        )
        said = "the same" if abs(far - after) <= CLOSE else "another"
        lines.append(f"score when both are {MOVED} positions on: {fixed(far)}, {said}")
    return Part(
        "rotate",
        f"a query at {plain(position)} and a key at {plain(key)}, in a head of width {head}",
        lines,
        {
            "q": q_ends[1].tolist(),
            "k": k_ends[1].tolist(),
            "turns": [None if np.isnan(turn) else float(turn) for turn in turns],
            "before": before,
            "after": after,
        },
    )


def _ends(encoding: Encoding, x: Array, position: float, *, query: bool) -> Array:
    """A vector at position 0 and at its own, as a query or as a key: (2, ·)."""
    as_q, as_k = turned(encoding, torch.from_numpy(x).expand(2, -1), index(0, position))
    return (as_q if query else as_k).numpy()


def _turns(encoding: Encoding) -> tuple[Array, list[tuple[int, int]]]:
    """How far each dimension of a key turns with each position, nan where it does not, below 0 when clockwise; the pairs."""
    at = span(encoding, MANY)
    path = turned(encoding, torch.ones(len(at), encoding.shape.head, dtype=torch.float64), at)[
        1
    ].numpy()
    turns = frequencies(path)
    turning = turned_pairs(encoding, turns)
    for a, b in turning:
        start, after = path[:2, a] + 1j * path[:2, b]
        if np.angle(after / start) < 0:
            turns[[a, b]] *= -1
    return turns, turning


def _moved(x: Array, ends: Array, pair: tuple[int, int], position: float, theta: float) -> str:
    """The arithmetic of one pair: a rotation of what it was, or a size and an angle; else what it becomes."""
    columns, angle = list(pair), position * theta
    start, end = ends[0, columns], ends[1, columns]
    of, cosine, sine = f"({_over(position, theta)})", np.cos(angle), np.sin(angle)
    if ends.shape[1] == len(x):
        a, b = x[columns]
        if np.allclose(end, (a * cosine - b * sine, a * sine + b * cosine), atol=CLOSE):
            first = f"{plain(a)}·cos{of} − {factor(b)}·sin{of} = {fixed(end[0])}"
            return f"{first},  {plain(a)}·sin{of} + {factor(b)}·cos{of} = {fixed(end[1])}"
    size, begin = float(np.hypot(*start)), float(np.arctan2(start[1], start[0]))
    if abs(begin) <= CLOSE and np.allclose(end, (size * cosine, size * sine), atol=CLOSE):
        return f"{plain(size)}·cos{of} = {fixed(end[0])},  {plain(size)}·sin{of} = {fixed(end[1])}"
    return f"({fixed(start[0])}, {fixed(start[1])}) becomes ({fixed(end[0])}, {fixed(end[1])})"


def _over(position: float, theta: float) -> str:
    return f"{'−' if theta < 0 else ''}{plain(position)}/{plain(1 / abs(theta))}"
