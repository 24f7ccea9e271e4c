"""Pictures of the vectors that positions have: what is added to the input, or what a key of ones is turned into."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding, overrides
from locant.figures.data.hooks import Array, NotOffered, Numbers, span, vectors
from locant.figures.data.planes import turned_pairs
from locant.figures.data.waves import frequencies

LINES = 4  # single dimensions in one picture


def heat(encoding: Encoding) -> Numbers:
    """Every number of every position's vector."""
    return {"values": rows(encoding), "what": meaning(encoding)}


def waves(encoding: Encoding) -> Numbers:
    """Single dimensions over the positions; sines and cosines apart, where there are such."""
    length = encoding.shape.length
    at = torch.arange(length)
    if encoding.real_positions:
        at = torch.linspace(0, length - 1, 8 * length, dtype=torch.float64)
    values, omega = vectors(encoding, at).numpy(), found(encoding)
    turns = omega * length / (2 * np.pi)  # over all positions
    if not np.isfinite(turns).any():
        lines = {
            f"dimension {column}": values[:, column] for column in _some(np.zeros(values.shape[1]))
        }
        what, panels = "single dimensions", {"": lines}
    elif overrides(encoding, "embed"):
        what, panels = "single dimensions", _by_their_start(values, turns)
    else:
        what, panels = (
            "how far single pairs have turned",
            _turning(values, turns, turned_pairs(encoding, turns)),
        )
    return {"positions": at.numpy().astype(float), "panels": panels, "what": what}


def _by_their_start(values: Array, turns: Array) -> dict[str, dict[str, Array]]:
    """Sines start at 0, cosines at their crest."""
    low = np.abs(values[0]) < 0.5 * np.abs(values).max(0)
    kinds = {"sine": np.where(low, turns, np.nan), "cosine": np.where(low, np.nan, turns)}
    panels = {
        kind: {f"dimension {column}": values[:, column] for column in _some(of)}
        for kind, of in kinds.items()
    }
    return {kind: lines for kind, lines in panels.items() if lines}


def _turning(
    values: Array, turns: Array, found: list[tuple[int, int]]
) -> dict[str, dict[str, Array]]:
    """The sine and the cosine of how far each pair has turned since position 0."""
    mate = dict(found)
    panels: dict[str, dict[str, Array]] = {"sine": {}, "cosine": {}}
    for first in _some(
        np.array([turns[column] if column in mate else np.nan for column in range(len(turns))])
    ):
        turn = values[:, first] + 1j * values[:, mate[first]]
        turn = turn / turn[0]
        panels["sine"][f"pair ({first}, {mate[first]})"] = turn.imag
        panels["cosine"][f"pair ({first}, {mate[first]})"] = turn.real
    return panels


def _some(turns: Array) -> list[int]:
    """A few columns, evenly spread over those that make at least half a turn; over the quickest, when these are few."""
    quickest = [
        int(column) for column in np.argsort(-turns, kind="stable") if np.isfinite(turns[column])
    ]
    seen = [column for column in quickest if turns[column] >= 0.5]
    seen = seen if len(seen) >= LINES else quickest[:LINES] if np.any(turns > 0) else quickest
    return (
        [seen[at] for at in np.unique(np.linspace(0, len(seen) - 1, LINES).round().astype(int))]
        if seen
        else []
    )


def wavelengths(encoding: Encoding) -> Numbers:
    """How many positions one full turn takes, in each dimension that is a wave."""
    omega = found(encoding)
    columns = np.flatnonzero(np.isfinite(omega))
    if not len(columns):
        raise NotOffered("none of its dimensions is a plain wave")
    return {
        "dimensions": columns,
        "wavelengths": 2 * np.pi / omega[columns],
        "length": encoding.shape.length,
    }


def similarity(encoding: Encoding) -> Numbers:
    """The cosine between the vectors of every two positions."""
    values = rows(encoding)
    size = np.linalg.norm(values, axis=1, keepdims=True)
    unit = values / np.where(size > 0, size, 1.0)
    return {"cosines": unit @ unit.T, "what": meaning(encoding)}


def product(encoding: Encoding) -> Numbers:
    """The dot product of two positions' vectors against their distance, from several starts."""
    length = encoding.shape.length
    starts = sorted({0, length // 4, length // 2})
    reach = length if encoding.extrapolates else length - starts[-1]
    values = vectors(encoding, torch.arange(starts[-1] + reach)).numpy()
    products = np.stack([values[start : start + reach] @ values[start] for start in starts])
    return {
        "distances": np.arange(reach),
        "starts": starts,
        "products": products,
        "what": meaning(encoding),
    }


def meaning(encoding: Encoding) -> str:
    """What the vectors are."""
    return (
        "what is added to the input"
        if overrides(encoding, "embed")
        else "a key of ones, turned by its position"
    )


def rows(encoding: Encoding) -> Array:
    """The vectors of positions 0, 1, … up to the length: (T, W)."""
    return vectors(encoding, torch.arange(encoding.shape.length)).numpy()


def found(encoding: Encoding) -> Array:
    """The frequency of every dimension that is a wave, nan for the others."""
    return frequencies(vectors(encoding, span(encoding)).numpy())
