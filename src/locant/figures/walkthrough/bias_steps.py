"""Work out `bias`: what is added to the score of a query and a key, head by head.

It is a slope times the distance, a number that a bucket of distances shares, or any other number.
"""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding
from locant.encodings.hooks import check_bias
from locant.figures.data.base import Array, added_to_scores, as_positions, on_axes
from locant.figures.walkthrough.arithmetic import WorkedPart, aligned, factor, fixed, shortest

MIN_KEYS = 256  # examined on the key's side of the query, at least


def work_out(encoding: Encoding, position: float, key: float) -> WorkedPart:
    """Work out the bias of a query at `position` and a key at `key`."""
    offset = key - position
    bias, bias_at_query = _bias(encoding, position, np.array([key, position])).T
    slope = _slope(encoding, position, offset)
    lines = [f"the key stands {_distance(offset)}"]
    if slope is None:
        lines += _bucket(encoding, position, offset)
    if slope is None:
        sums = [fixed(value) for value in bias]
    else:
        products = [f"{shortest(one)}·{shortest(abs(offset))}" for one in slope]
        sums = [f"{text} = {shortest(value)}" for text, value in zip(products, bias, strict=True)]
    lines += weights_by_head(sums, bias - bias_at_query)
    numbers = {
        "offset": offset,
        "bias": bias.tolist(),
        "slope": None if slope is None else slope.tolist(),
    }
    title = f"added to the score of a query at {shortest(position)} and a key at {shortest(key)}"
    return WorkedPart("bias", title, lines, numbers)


def weights_by_head(sums: list[str], relative: Array) -> list[str]:
    """Write how each head's number, written as a sum, changes the weight of a key.

    relative  the number of each head, less that of an equal key at the query's own position
    """
    rows = []
    for head, (sum_, value) in enumerate(zip(sums, relative, strict=True)):
        weight = f"relative weight e^{factor(value, fixed)} = {fixed(np.exp(value))}"
        rows.append((f"head {head + 1}", sum_, weight))
    return [*aligned(rows), "(1 is the weight of an equal key at the query's own position)"]


def work_out_states(encoding: Encoding, position: float, key: float) -> WorkedPart:
    """Work out the bias from states of equal tokens, at every position from one to the other."""
    low, high = sorted((float(position), float(key)))
    tokens_at = sorted({low, high, *np.arange(np.ceil(low), high).tolist()})
    found = added_to_scores(encoding, as_positions(position), as_positions(*tokens_at))
    if found is None:
        found = torch.zeros(encoding.shape.heads, 1, len(tokens_at))
    values = found[:, 0].numpy()
    bias = values[:, tokens_at.index(key)]
    lines = [
        f"equal tokens stand at {shortest(low)} to {shortest(high)}, "
        f"the key {_distance(key - position)}"
    ]
    lines += weights_by_head(
        [fixed(value) for value in bias], bias - values[:, tokens_at.index(position)]
    )
    title = f"added to the score of a query at {shortest(position)} and a key at {shortest(key)}"
    return WorkedPart("state_bias", title, lines, {"bias": bias.tolist()})


def _bias(encoding: Encoding, position: float, keys: Array) -> Array:
    """Return the bias of one query over some keys: (H, K)."""
    heads = encoding.shape.heads
    q_pos = on_axes(encoding, as_positions(position))
    k_pos = on_axes(encoding, as_positions(*keys.tolist()))
    found = check_bias(encoding, encoding.bias(q_pos, k_pos), (1, heads, 1, len(keys)))
    if found is None:
        return np.zeros((heads, len(keys)))
    return found[0, :, 0].double().expand(heads, -1).numpy()


def _one_side(encoding: Encoding, position: float, offset: float) -> tuple[float, Array]:
    """Choose a query position, and the offsets from 0 outwards on the key's side: 0, −1, −2, … or
    0, 1, 2, …"""
    count = max(MIN_KEYS, int(abs(offset)) + 1)
    sign = 1 if offset > 0 else -1
    if encoding.extrapolates and encoding.shift_invariant:  # then every query sees the same
        return position + count, np.arange(count + 1.0) * sign
    if offset <= 0:
        return position, -np.arange(min(count, int(position)) + 1.0)
    if not encoding.extrapolates:
        count = min(count, encoding.shape.length - 1 - int(position))
    return position, np.arange(count + 1.0)


def _slope(encoding: Encoding, position: float, offset: float) -> Array | None:
    """Return the bias per position of distance in each head, where the bias is linear on this side;
    else None."""
    position, offsets = _one_side(encoding, position, offset)
    if len(offsets) < 3:
        return None
    values = _bias(encoding, position, position + offsets)
    slope = values[:, 1]
    linear = np.allclose(values, slope[:, None] * np.abs(offsets), rtol=1e-5, atol=1e-9)
    return slope if linear and slope.any() else None


def _bucket(encoding: Encoding, position: float, offset: float) -> list[str]:
    """Say which other offsets on this side have the same bias in every head."""
    position, offsets = _one_side(encoding, position, offset)
    if offset not in offsets:
        return []
    values = _bias(encoding, position, position + offsets)
    edges = np.flatnonzero((np.diff(values, axis=1) != 0).any(0)) + 1  # where a new bucket begins
    buckets = np.split(offsets, edges)
    if all(len(bucket) == 1 for bucket in buckets):
        return ["every distance has a bias of its own"]
    number = next(index for index, bucket in enumerate(buckets) if offset in bucket)
    bucket = buckets[number]
    if len(bucket) == 1:
        held = "that offset alone"
    else:
        held = f"the offsets {shortest(bucket[0])} to {shortest(bucket[-1])}"
        if number == len(buckets) - 1:
            held += " and beyond"
    return [f"bucket {number}, counted outwards from the query: {held}"]


def _distance(offset: float) -> str:
    """Write an offset in words.

    >>> _distance(-2), _distance(1), _distance(0)
    ('2 positions before the query', '1 position after the query', 'at the query')
    """
    if not offset:
        return "at the query"
    unit = "position" if abs(offset) == 1 else "positions"
    side = "before" if offset < 0 else "after"
    return f"{shortest(abs(offset))} {unit} {side} the query"
