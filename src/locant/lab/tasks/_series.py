"""Seasonal series with faults put into them: sums of two seasons, a trend and noise.

    x_f(t) = Σ_p a·sin(2πt/p + φ) + b·t + ε,   p = 24, 168,  a ~ U(.5, 2),  φ ~ U(0, 2π),  b ~ U(−.001, .001),  ε ~ N(0, .1)

Faults are of three kinds: a point that jumps, a value taken from another time (contextual: possible, but not then), and
a stretch that is lifted (collective).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

FEATURES = 5
PERIODS = (24, 168)
POINT, CONTEXTUAL, COLLECTIVE = 1, 2, 3
KINDS = {"point": POINT, "contextual": CONTEXTUAL, "collective": COLLECTIVE}


class Faulty(NamedTuple):
    """A series (T,F) with faults, the same without noise or faults, and the kind of fault at each point (0 is none)."""

    values: np.ndarray
    clean: np.ndarray
    kinds: np.ndarray


def seasonal(length: int, draw: Generator, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """So many series (count,T,F), and the same without noise."""
    t = np.arange(length)[:, None]
    shape = (count, 1, FEATURES)
    clean = np.zeros((count, length, FEATURES))
    for period in PERIODS:
        amplitude, phase = draw.uniform(0.5, 2, shape), draw.uniform(0, 2 * math.pi, shape)
        clean += amplitude * np.sin(2 * math.pi * t / period + phase)
    clean += draw.uniform(-0.001, 0.001, shape) * t
    return clean + draw.normal(0, 0.1, clean.shape), clean


def inject(values: np.ndarray, draw: Generator, faults: int) -> tuple[np.ndarray, np.ndarray]:
    """The series (T,F) with `faults` put in, a fifth points, three fifths contextual, a fifth in stretches; and kinds (T)."""
    length = len(values)
    size = values.std(0)
    out, kinds = values.copy(), np.zeros(length, int)
    for _ in range(faults // 5):
        at, f = int(draw.integers(length)), draw.integers(FEATURES)
        out[at, f] += draw.choice([-1, 1]) * draw.uniform(3, 5) * size[f]
        kinds[at] = POINT
    for _ in range(3 * faults // 5):
        at, f = int(draw.integers(length - 50)), draw.integers(FEATURES)
        out[at, f] = values[at + draw.integers(20, 50), f]
        kinds[at] = CONTEXTUAL
    for _ in range(faults // 25):
        span, f = int(draw.integers(5, 10)), draw.integers(FEATURES)
        at = int(draw.integers(length - span))
        out[at : at + span, f] += draw.uniform(2, 4) * size[f]
        kinds[at : at + span] = COLLECTIVE
    return out, kinds


def windows(values: np.ndarray, length: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Every window (N,length,F) at a stride, the last one flush with the end, and their starts (N)."""
    starts = np.arange(0, len(values) - length + 1, stride)
    if starts[-1] != len(values) - length:
        starts = np.append(starts, len(values) - length)
    return values[starts[:, None] + np.arange(length)], starts
