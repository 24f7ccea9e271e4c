"""What is added to the score of a query and a key, head by head: a price for distance, a bucket, or a number."""

from __future__ import annotations

import numpy as np

from locant.attention.backends.tiled.bias import check_bias
from locant.encodings.base import Encoding
from locant.figures.data.hooks import Array, index, places
from locant.figures.walkthrough.part import Part
from locant.figures.walkthrough.writing import columns, factor, fixed, plain

AROUND = 256  # keys on each side that are looked at, at least


def work_out(encoding: Encoding, position: float, key: float) -> Part:
    """A query at `position`, a key at `key`."""
    offset = key - position
    here, at_home = _bias(encoding, position, np.array([key, position])).T
    slope = _slope(encoding, position, offset)
    lines = [f"the key stands {_where(offset)}"]
    if slope is None:
        lines += _bucket(encoding, position, offset)
    rows = []
    for head, (value, more) in enumerate(zip(here, here - at_home, strict=True)):
        worked = (
            fixed(value)
            if slope is None
            else f"{plain(slope[head])}·{plain(abs(offset))} = {plain(value)}"
        )
        rows.append(
            (f"head {head + 1}", worked, f"weighs e^{factor(more, fixed)} = {fixed(np.exp(more))}")
        )
    lines += [*columns(rows), "(a weight of 1 is that of an equal key at the query's own position)"]
    numbers = {
        "offset": offset,
        "bias": here.tolist(),
        "slope": None if slope is None else slope.tolist(),
    }
    title = f"added to the score of a query at {plain(position)} and a key at {plain(key)}"
    return Part("bias", title, lines, numbers)


def _bias(encoding: Encoding, position: float, keys: Array) -> Array:
    """For one query over some keys: (H, K)."""
    q_pos, k_pos = places(encoding, index(position)), places(encoding, index(*keys.tolist()))
    sizes = (1, encoding.shape.heads, 1, len(keys))
    found = check_bias(encoding, encoding.bias(q_pos, k_pos), sizes)
    return (
        np.zeros(sizes[1::2])
        if found is None
        else found[0, :, 0].double().expand(sizes[1], -1).numpy()
    )


def _side(encoding: Encoding, position: float, offset: float) -> tuple[float, Array]:
    """From where to look, and the offsets from 0 outwards on the key's side: 0, −1, −2, … or 0, 1, 2, …"""
    many = max(AROUND, int(abs(offset)) + 1)
    if encoding.extrapolates and encoding.shift_invariant:  # then every query sees the same
        return position + many, np.arange(many + 1.0) * (1 if offset > 0 else -1)
    if offset > 0:
        many = (
            many if encoding.extrapolates else min(many, encoding.shape.length - 1 - int(position))
        )
        return position, np.arange(many + 1.0)
    return position, -np.arange(min(many, int(position)) + 1.0)


def _slope(encoding: Encoding, position: float, offset: float) -> Array | None:
    """The price of one step in each head, when every step on this side costs the same and no step costs nothing."""
    position, offsets = _side(encoding, position, offset)
    if len(offsets) < 3:
        return None
    values = _bias(encoding, position, position + offsets)
    slope = values[:, 1]
    even = np.allclose(values, slope[:, None] * np.abs(offsets), rtol=1e-5, atol=1e-9)
    return slope if even and slope.any() else None


def _bucket(encoding: Encoding, position: float, offset: float) -> list[str]:
    """Which other offsets on this side have the same numbers in every head."""
    position, offsets = _side(encoding, position, offset)
    if offset not in offsets:
        return []
    values = _bias(encoding, position, position + offsets)
    edges = np.flatnonzero((np.diff(values, axis=1) != 0).any(0)) + 1  # where a new bucket begins
    groups = np.split(offsets, edges)
    if all(len(group) == 1 for group in groups):
        return ["every distance has a number of its own"]
    number, group = next((at, group) for at, group in enumerate(groups) if offset in group)
    alone = (
        "that offset alone"
        if len(group) == 1
        else f"the offsets {plain(group[0])} to {plain(group[-1])}"
    )
    more = " and farther" if number == len(groups) - 1 and len(group) > 1 else ""
    return [f"bucket {number}, counted from the query outwards: {alone}{more}"]


def _where(offset: float) -> str:
    """In words.

    >>> _where(-2), _where(1), _where(0)
    ('2 positions before the query', '1 position after the query', 'at the query')
    """
    if not offset:
        return "at the query"
    unit = "position" if abs(offset) == 1 else "positions"
    return f"{plain(abs(offset))} {unit} {'before' if offset < 0 else 'after'} the query"
