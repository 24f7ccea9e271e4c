"""Work out what becomes of a score and of a value: `rescore`, `mix`, and an encoding without
hooks."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.encodings.base import Encoding
from locant.figures.data.base import as_positions, on_axes
from locant.figures.walkthrough.arithmetic import (
    TOLERANCE,
    WorkedPart,
    dot_product,
    example_vectors,
    fixed,
    query_and_key,
    shortest,
    vector,
)


def work_out_rescore(encoding: Encoding, position: float, key: float) -> WorkedPart:
    """Work out the score of a query at `position` and a key at `key`, in the first head.

    Where the hook multiplies the query by a vector for the distance, that vector is shown.
    """
    width = encoding.shape.head
    q, k = example_vectors(width)
    scale = width**-0.5
    before = float(q @ k) * scale
    after = _score(encoding, q * scale, k, position, key)
    change = after - before
    units = torch.eye(width, dtype=torch.float64)
    probed = [_score(encoding, unit, 0 * k, position, key) for unit in units]
    added = torch.tensor(probed, dtype=torch.float64)
    terms = dot_product(q.tolist(), k.tolist())
    lines = [
        f"q = {vector(q.tolist(), shortest)}, k = {vector(k.tolist(), shortest)}",
        f"score without positions: ({terms})/√{width} = {fixed(before)}",
    ]
    if abs(float(q @ added) * scale - change) <= TOLERANCE:
        terms = dot_product(q.tolist(), added.tolist())
        lines.append(f"a key at this distance gets a = {vector(added.tolist())}")
        lines.append(f"q·a/√{width} = ({terms})/√{width} = {fixed(change)}")
    sum_ = f"{fixed(before)} + {fixed(change)} = {fixed(after)}".replace("+ −", "− ")
    lines.append(f"score with positions: {sum_}")
    numbers = {"before": before, "after": after, "key_gets": added.tolist()}
    title = query_and_key(position, key, width)
    if not encoding.goes_by_positions:  # by the keys in between, of which there are none
        title += ", with no other key"
    return WorkedPart("rescore", title, lines, numbers)


def _score(encoding: Encoding, q: Tensor, k: Tensor, position: float, key: float) -> float:
    """Return the score of one scaled query and one key in the first head."""
    heads = encoding.shape.heads
    q = q.expand(1, heads, 1, -1)
    k = k.expand(1, heads, 1, -1)
    q_pos = on_axes(encoding, as_positions(position))
    k_pos = on_axes(encoding, as_positions(key))
    return float(encoding.rescore(q @ k.mT, q, k, q_pos, k_pos)[0, 0, 0, 0])


def work_out_mix(encoding: Encoding, position: float, key: float) -> WorkedPart:
    """Work out what the distance alone makes of a value that gets all the weight.

    The value is zeros, or ones where zeros stay zeros.
    """
    heads, width = encoding.shape.heads, encoding.shape.head
    weight = torch.ones(1, heads, 1, 1, dtype=torch.float64)
    value = torch.zeros(1, heads, 1, width, dtype=torch.float64)
    q_pos = on_axes(encoding, as_positions(position))
    k_pos = on_axes(encoding, as_positions(key))
    found = encoding.mix(weight, value, q_pos, k_pos)
    what = "zeros"
    if not bool(found.any()):
        found, what = encoding.mix(weight, value + 1, q_pos, k_pos), "ones"
    out = found[0, 0, 0].tolist()
    title = (
        f"a value at {shortest(key)} seen from a query at {shortest(position)}, "
        f"in a head of width {width}"
    )
    lines = [f"a value of {what} comes out as {vector(out)}"]
    return WorkedPart("mix", title, lines, {"value_gets": out})


def work_out_unchanged(encoding: Encoding, position: float, key: float) -> WorkedPart:
    """Work out the score of an encoding that uses no hook: it depends on the content alone."""
    width = encoding.shape.head
    q, k = example_vectors(width)
    score = float(q @ k) * width**-0.5
    terms = dot_product(q.tolist(), k.tolist())
    lines = [
        f"q = {vector(q.tolist(), shortest)}, k = {vector(k.tolist(), shortest)}",
        f"score: ({terms})/√{width} = {fixed(score)}, at these positions and at any other",
    ]
    numbers = {"before": score, "after": score}
    return WorkedPart("no hook", query_and_key(position, key, width), lines, numbers)
