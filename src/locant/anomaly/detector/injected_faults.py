"""Faults of known kinds, injected into a series to see which method finds them.

A kind of fault is one function: (values (T,), draw) → new values.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from locant._internal.seeds import stable_seed
from locant.anomaly.detector.time_grid import Flags, Floats

MAX_FAULTS, FAULT_ROWS = 12, 40  # faults in a series, and the rows that are set apart for each
VISIBLE = 0.1  # in units of the clean part: a smaller change is no fault


def point(values: Floats, draw: Generator) -> Floats:
    """Make one value jump."""
    out = values.copy()
    out[len(out) // 2] += draw.choice([-1, 1]) * draw.uniform(1.5, 4)
    return out


def swapped(values: Floats, draw: Generator) -> Floats:
    """Exchange two short segments: possible values at the wrong time."""
    out, rows = values.copy(), int(draw.integers(1, max(2, len(values) // 6)))
    first = len(out) // 3
    second = first + max(rows, len(out) // 3)
    out[first : first + rows] = values[second : second + rows]
    out[second : second + rows] = values[first : first + rows]
    return out


def level_shift(values: Floats, draw: Generator) -> Floats:
    """Raise or lower a segment."""
    out, segment = values.copy(), _inner_segment(values, draw)
    out[segment] += draw.choice([-1, 1]) * draw.uniform(0.5, 2)
    return out


def flat(values: Floats, draw: Generator) -> Floats:
    """Let the sensor hang: a segment keeps its first value."""
    out, segment = values.copy(), _inner_segment(values, draw)
    out[segment] = out[segment.start]
    return out


def frequency(values: Floats, draw: Generator) -> Floats:
    """Play a segment at twice its speed."""
    out, segment = values.copy(), _inner_segment(values, draw)
    rows = np.arange(len(out))
    out[segment] = np.interp(2 * rows[segment] - segment.start, rows, values)
    return out


Fault = Callable[[Floats, Generator], Floats]
FAULTS: dict[str, Fault] = {
    "point": point,
    "swapped": swapped,
    "level shift": level_shift,
    "flat": flat,
    "frequency": frequency,
}


def inject(values: Floats, kind: str, seed: int = 0) -> tuple[Floats, Flags]:
    """Inject faults of one kind into values (T,F), each into one column; flag their rows, (T,).

    >>> faulty, where = inject(np.zeros((100, 1)), "point")
    >>> where.sum(), (faulty[:, 0] != 0).sum()
    (np.int64(2), np.int64(2))
    """
    draw = np.random.default_rng(stable_seed(f"self-test/{kind}", seed))
    out, count = values.copy(), int(np.clip(len(values) // FAULT_ROWS, 1, MAX_FAULTS))
    edges = np.linspace(0, len(values), count + 1).astype(int)
    for start, stop in pairwise(edges):
        size, column = min(FAULT_ROWS, stop - start), int(draw.integers(values.shape[1]))
        first = int(draw.integers(start, stop - size + 1))
        rows = slice(first, first + size)
        out[rows, column] = _faulty(FAULTS[kind], out[rows, column], draw)
    return out, np.fmax.reduce(np.abs(out - values), axis=1, initial=0.0) > VISIBLE


def _faulty(fault: Fault, values: Floats, draw: Generator) -> Floats:
    """Apply a fault to values (T,); those that were not observed, NaN, stay so."""
    known = ~np.isnan(values)
    if known.all():
        return fault(values, draw)
    if not known.any():
        return values
    rows = np.arange(len(values))
    whole = np.interp(rows, rows[known], values[known])
    return np.where(known, fault(whole, draw), np.nan)


def _inner_segment(values: Floats, draw: Generator) -> slice:
    """Draw a segment of a quarter to a half of the rows, inside."""
    rows = int(draw.integers(max(2, len(values) // 4), max(3, len(values) // 2)))
    start = int(draw.integers(1, max(2, len(values) // 2)))
    return slice(start, start + rows)
