"""Draw seasonal series with faults: sums of two seasons, a trend and noise.

    x_f(t) = Σ_p a·sin(2πt/p + φ) + b·t + ε
    p = 24, 168;  a ~ U(.5, 2);  φ ~ U(0, 2π);  b ~ U(−.001, .001);  ε ~ N(0, .1)

Faults are of three kinds: a point that jumps, a value taken from another time (contextual:
possible, but not then), and a segment that is lifted (collective).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from locant._internal.seeds import stable_seed

FEATURES = 5
PERIODS = (24, 168)
POINT, CONTEXTUAL, COLLECTIVE = 1, 2, 3
KINDS = {"point": POINT, "contextual": CONTEXTUAL, "collective": COLLECTIVE}


class FaultySeries(NamedTuple):
    """A series in units of its clean lead-in.

    values  (T,F), with noise and faults
    clean   (T,F), without noise and faults
    kinds   (tested,), the kind of fault of each point after the lead-in; 0 is none
    """

    values: np.ndarray
    clean: np.ndarray
    kinds: np.ndarray


def seasonal(length: int, draw: Generator, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Draw series (count,T,F), and the same series without noise."""
    t = np.arange(length)[:, None]
    shape = (count, 1, FEATURES)
    clean = np.zeros((count, length, FEATURES))
    for period in PERIODS:
        amplitude = draw.uniform(0.5, 2, shape)
        phase = draw.uniform(0, 2 * math.pi, shape)
        clean += amplitude * np.sin(2 * math.pi * t / period + phase)
    clean += draw.uniform(-0.001, 0.001, shape) * t
    return clean + draw.normal(0, 0.1, clean.shape), clean


def inject(values: np.ndarray, draw: Generator, faults: int) -> tuple[np.ndarray, np.ndarray]:
    """Put faults into a series (T,F) and return it with the kind of fault of each point (T,).

    A fifth of the faults are points, three fifths contextual, and a fifth are in lifted segments.
    """
    length = len(values)
    size = values.std(0)
    out = values.copy()
    kinds = np.zeros(length, int)
    for _ in range(faults // 5):
        t, f = int(draw.integers(length)), draw.integers(FEATURES)
        out[t, f] += draw.choice([-1, 1]) * draw.uniform(3, 5) * size[f]
        kinds[t] = POINT
    for _ in range(3 * faults // 5):
        t, f = int(draw.integers(length - 50)), draw.integers(FEATURES)
        out[t, f] = values[t + draw.integers(20, 50), f]
        kinds[t] = CONTEXTUAL
    for _ in range(faults // 25):
        span, f = int(draw.integers(5, 10)), draw.integers(FEATURES)
        t = int(draw.integers(length - span))
        out[t : t + span, f] += draw.uniform(2, 4) * size[f]
        kinds[t : t + span] = COLLECTIVE
    return out, kinds


def windows(values: np.ndarray, length: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut every window (N,length,F) at a stride, the last one flush with the end, and return their
    starts (N,)."""
    starts = np.arange(0, len(values) - length + 1, stride)
    if starts[-1] != len(values) - length:
        starts = np.append(starts, len(values) - length)
    return values[starts[:, None] + np.arange(length)], starts


@lru_cache(maxsize=4)
def faulty_series(
    lead: int, tested: int, faults: int, count: int, seed: int, purpose: str
) -> list[FaultySeries]:
    """Draw series with a clean lead-in of `lead` points, and faults in the `tested` points after
    it."""
    draw = np.random.default_rng(stable_seed(f"{purpose} series", seed))
    values, clean = seasonal(lead + tested, draw, count)
    out = []
    for noisy, noiseless in zip(values, clean, strict=True):
        rest, kinds = inject(noisy[lead:], draw, faults)
        series = np.concatenate([noisy[:lead], rest])
        mean, size = series[:lead].mean(0), series[:lead].std(0)
        out.append(FaultySeries((series - mean) / size, (noiseless - mean) / size, kinds))
    return out


@lru_cache(maxsize=2)
def training_series(series: int, length: int, lead: int, seed: int) -> np.ndarray:
    """Draw clean training series (N,T,F), each in units of its first `lead` points."""
    draw = np.random.default_rng(stable_seed("training series", seed))
    values, _ = seasonal(length, draw, series)
    start = values[:, :lead]
    return (values - start.mean(1, keepdims=True)) / start.std(1, keepdims=True)
