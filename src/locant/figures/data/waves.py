"""Waves: single dimensions over the positions, sines and cosines apart."""

from __future__ import annotations

import numpy as np
import torch

from locant.encodings.base import Encoding, overrides
from locant.figures.data._sinusoids import pair_dimensions, rotated_pairs, vector_frequencies
from locant.figures.data.base import Array, Numbers, position_vectors

ORDER = 20
LINES = 4  # single dimensions in one panel
POINTS = 8  # drawn per position, where positions are real numbers

Panel = dict[str, Array]  # the lines of one panel, by their labels


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Return a few dimensions over the positions, in a panel for sines and one for cosines where
    there are such."""
    length = encoding.shape.length
    positions = torch.arange(length)
    if encoding.real_positions:
        positions = torch.linspace(0, length - 1, POINTS * length, dtype=torch.float64)
    values = position_vectors(encoding, positions).numpy()
    turns = vector_frequencies(encoding) * length / (2 * np.pi)  # over all positions
    what = "single dimensions"
    pairs = [] if overrides(encoding, "embed") else rotated_pairs(encoding, turns)
    if pairs:
        what = "angles of single pairs"
        panels = _pair_angles(values, turns, pairs)
    elif _has_waves(encoding, turns):
        panels = _sines_and_cosines(values, turns)
    else:
        columns = _spread(np.zeros(values.shape[1]))
        panels = {"": {f"dimension {column}": values[:, column] for column in columns}}
    return {"positions": positions.numpy().astype(float), "panels": panels, "what": what}


def _has_waves(encoding: Encoding, turns: Array) -> bool:
    """Whether some dimensions are waves. Of a rotated key two must share a frequency: a slow arc of
    a wave that grows or fades passes for one."""
    if overrides(encoding, "embed"):
        return bool(np.isfinite(turns).any())
    return bool(pair_dimensions(turns))


def _sines_and_cosines(values: Array, turns: Array) -> dict[str, Panel]:
    """Sort waves by their start: sines start at 0, cosines at their crest."""
    starts_low = np.abs(values[0]) < 0.5 * np.abs(values).max(0)
    kinds = {
        "sine": np.where(starts_low, turns, np.nan),
        "cosine": np.where(starts_low, np.nan, turns),
    }
    panels: dict[str, Panel] = {}
    for kind, turns_of_kind in kinds.items():
        columns = _spread(turns_of_kind)
        if columns:
            panels[kind] = {f"dimension {column}": values[:, column] for column in columns}
    return panels


def _pair_angles(values: Array, turns: Array, pairs: list[tuple[int, int]]) -> dict[str, Panel]:
    """Return the sine and the cosine of the angle by which each pair has rotated since position
    0."""
    partner = dict(pairs)
    of_pairs = [turns[column] if column in partner else np.nan for column in range(len(turns))]
    panels: dict[str, Panel] = {"sine": {}, "cosine": {}}
    for first in _spread(np.array(of_pairs)):
        second = partner[first]
        turn = values[:, first] + 1j * values[:, second]
        turn = turn / turn[0]
        panels["sine"][f"pair ({first}, {second})"] = turn.imag
        panels["cosine"][f"pair ({first}, {second})"] = turn.real
    return panels


def _spread(turns: Array) -> list[int]:
    """Choose a few columns, evenly spread over those that make at least half a turn; over the
    fastest, when these are few."""
    order = np.argsort(-turns, kind="stable")
    fastest = [int(column) for column in order if np.isfinite(turns[column])]
    chosen = [column for column in fastest if turns[column] >= 0.5]
    if len(chosen) < LINES:
        chosen = fastest[:LINES] if np.any(turns > 0) else fastest
    if not chosen:
        return []
    indices = np.unique(np.linspace(0, len(chosen) - 1, LINES).round().astype(int))
    return [chosen[index] for index in indices]
