"""Known faults, put into a series to see who finds them. Each kind is one function: (values (T,), draw) → new values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from locant._internal.seeds import stable_seed
from locant.anomaly.detector.method import Flags, Floats

MOST, ROOM = 12, 40  # faults in a series, and the rows that each has for itself
VISIBLE = 0.1  # in units of the clean part: a smaller change is none


def point(values: Floats, draw: Generator) -> Floats:
    """One value jumps."""
    out = values.copy()
    out[len(out) // 2] += draw.choice([-1, 1]) * draw.uniform(1.5, 4)
    return out


def swapped(values: Floats, draw: Generator) -> Floats:
    """Two short stretches change places: possible values, but not then."""
    out, long = values.copy(), int(draw.integers(1, max(2, len(values) // 6)))
    one, other = len(out) // 3, len(out) // 3 + max(long, len(out) // 3)
    out[one : one + long], out[other : other + long] = (
        values[other : other + long],
        values[one : one + long],
    )
    return out


def level_shift(values: Floats, draw: Generator) -> Floats:
    """A stretch is lifted or lowered."""
    out, stretch = values.copy(), _middle(values, draw)
    out[stretch] += draw.choice([-1, 1]) * draw.uniform(0.5, 2)
    return out


def flat(values: Floats, draw: Generator) -> Floats:
    """The sensor hangs: a stretch keeps its first value."""
    out, stretch = values.copy(), _middle(values, draw)
    out[stretch] = out[stretch.start]
    return out


def frequency(values: Floats, draw: Generator) -> Floats:
    """A stretch runs at twice its speed."""
    out, stretch = values.copy(), _middle(values, draw)
    there = np.arange(len(out))
    out[stretch] = np.interp(2 * there[stretch] - stretch.start, there, values)
    return out


KINDS: dict[str, Callable[[Floats, Generator], Floats]] = {
    "point": point,
    "swapped": swapped,
    "level shift": level_shift,
    "flat": flat,
    "frequency": frequency,
}


def inject(values: Floats, kind: str, seed: int = 0) -> tuple[Floats, Flags]:
    """Values (T,F) with faults of one kind, each in one column, and where they are, (T,).

    >>> faulty, where = inject(np.zeros((100, 1)), "point")
    >>> where.sum(), (faulty[:, 0] != 0).sum()
    (np.int64(2), np.int64(2))
    """
    draw = np.random.default_rng(stable_seed(f"self-test/{kind}", seed))
    out, count = values.copy(), int(np.clip(len(values) // ROOM, 1, MOST))
    edges = np.linspace(0, len(values), count + 1).astype(int)
    for start, stop in pairwise(edges):
        size, column = min(ROOM, stop - start), int(draw.integers(values.shape[1]))
        first = int(draw.integers(start, stop - size + 1))
        room = slice(first, first + size)
        out[room, column] = KINDS[kind](out[room, column], draw)
    return out, np.abs(out - values).max(1) > VISIBLE


def _middle(values: Floats, draw: Generator) -> slice:
    """A stretch of a quarter to a half of the rows, inside."""
    long = int(draw.integers(max(2, len(values) // 4), max(3, len(values) // 2)))
    start = int(draw.integers(1, max(2, len(values) // 2)))
    return slice(start, start + long)
