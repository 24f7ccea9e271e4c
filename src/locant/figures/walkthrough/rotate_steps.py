"""Work out `rotate`: how a query and a key are rotated, pair by pair, and what becomes of their
score."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding
from locant.figures.data._sinusoids import frequencies, rotated_pairs
from locant.figures.data.base import (
    Array,
    as_positions,
    observed_positions,
    rotated,
    rotated_ones,
)
from locant.figures.walkthrough.arithmetic import (
    MIN_FITTED,
    TOLERANCE,
    WorkedPart,
    dot_product,
    example_vectors,
    factor,
    fixed,
    query_and_key,
    shortest,
    vector,
)

SHIFT = 100  # positions, to see whether the score stays


def work_out(encoding: Encoding, position: float, key: float) -> WorkedPart:
    """Work out a query at `position` and a key at `key`, in the first head."""
    width = encoding.shape.head
    q, k = (x.numpy() for x in example_vectors(width))
    q_ends = _ends(encoding, q, position, query=True)
    k_ends = _ends(encoding, k, key, query=False)
    omega, pairs = _rotation(encoding)
    lines = [f"q = {vector(q, shortest)}, k = {vector(k, shortest)}"]
    for pair in pairs:
        theta = float(omega[pair[0]])
        lines.append(f"pair {pair} rotates by {_angle(1, theta)} radians per position")
        lines.append("  q: " + _pair(q, q_ends, pair, position, theta))
        lines.append("  k: " + _pair(k, k_ends, pair, key, theta))
    lines += [f"q becomes {vector(q_ends[1])}", f"k becomes {vector(k_ends[1])}"]
    scale = width**-0.5
    before = scale * float(q @ k)
    after = scale * float(q_ends[1] @ k_ends[1])
    terms = dot_product(q.tolist(), k.tolist())
    lines.append(f"score without positions: ({terms})/√{width} = {fixed(before)}")
    terms = dot_product(q_ends[1].tolist(), k_ends[1].tolist(), fixed)
    lines.append(f"score with positions: ({terms})/√{width} = {fixed(after)}")
    if encoding.extrapolates:
        far_q = _ends(encoding, q, position + SHIFT, query=True)[1]
        far_k = _ends(encoding, k, key + SHIFT, query=False)[1]
        far = far_q @ far_k * scale
        verdict = "the same" if abs(far - after) <= TOLERANCE else "different"
        lines.append(f"score when both are {SHIFT} positions later: {fixed(far)}, {verdict}")
    numbers = {
        "q": q_ends[1].tolist(),
        "k": k_ends[1].tolist(),
        "turns": [None if np.isnan(theta) else float(theta) for theta in omega],
        "before": before,
        "after": after,
    }
    return WorkedPart("rotate", query_and_key(position, key, width), lines, numbers)


def _ends(encoding: Encoding, x: Array, position: float, *, query: bool) -> Array:
    """Return a vector at position 0 and at its own, as a query or as a key: (2, ·)."""
    both = torch.from_numpy(x).expand(2, -1)
    as_query, as_key = rotated(encoding, both, as_positions(0, position))
    return (as_query if query else as_key).numpy()


def _rotation(encoding: Encoding) -> tuple[Array, list[tuple[int, int]]]:
    """Return the angle of each dimension of a key per position, and the pairs.

    It is nan where a dimension does not rotate, and negative where it rotates clockwise.
    """
    observed = rotated_ones(encoding, observed_positions(encoding, MIN_FITTED)).numpy()
    omega = frequencies(observed)
    pairs = rotated_pairs(encoding, omega)
    for a, b in pairs:
        start, after = observed[:2, a] + 1j * observed[:2, b]
        if np.angle(after / start) < 0:
            omega[[a, b]] *= -1
    return omega, pairs


def _pair(x: Array, ends: Array, pair: tuple[int, int], position: float, theta: float) -> str:
    """Write the arithmetic of one pair: a rotation, or a magnitude and an angle; else what it
    becomes."""
    columns, angle = list(pair), position * theta
    start, end = ends[0, columns], ends[1, columns]
    of, cosine, sine = f"({_angle(position, theta)})", np.cos(angle), np.sin(angle)
    if ends.shape[1] == len(x):
        a, b = x[columns]
        if np.allclose(end, (a * cosine - b * sine, a * sine + b * cosine), atol=TOLERANCE):
            first = f"{shortest(a)}·cos{of} − {factor(b)}·sin{of} = {fixed(end[0])}"
            second = f"{shortest(a)}·sin{of} + {factor(b)}·cos{of} = {fixed(end[1])}"
            return f"{first},  {second}"
    size, begin = float(np.hypot(*start)), float(np.arctan2(start[1], start[0]))
    as_wave = (size * cosine, size * sine)
    if abs(begin) <= TOLERANCE and np.allclose(end, as_wave, atol=TOLERANCE):
        first = f"{shortest(size)}·cos{of} = {fixed(end[0])}"
        second = f"{shortest(size)}·sin{of} = {fixed(end[1])}"
        return f"{first},  {second}"
    return f"({fixed(start[0])}, {fixed(start[1])}) becomes ({fixed(end[0])}, {fixed(end[1])})"


def _angle(position: float, theta: float) -> str:
    """Write position·θ as a fraction."""
    sign = "−" if theta < 0 else ""
    return f"{sign}{shortest(position)}/{shortest(1 / abs(theta))}"
