"""The controlled series of Study A: 504 clean points that set the units, 1,000 with anomalies."""

from __future__ import annotations

from functools import cache

import numpy as np

LEAD, LENGTH, FEATURES = 504, 1000, 5
POINT, CONTEXTUAL, COLLECTIVE = 1, 2, 3


@cache
def controlled(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lead (504, 5), series (1000, 5) and the kind of anomaly at each point, 0 for none."""
    draw = np.random.default_rng(seed)
    whole = seasonal(draw)
    lead, series = whole[:LEAD], whole[LEAD:].copy()
    kind = inject(series, draw)
    mean, spread = lead.mean(0), lead.std(0)
    return (lead - mean) / spread, (series - mean) / spread, kind


def seasonal(draw: np.random.Generator) -> np.ndarray:
    """Noise, a trend and waves of period 24 and 168; each feature has its own amplitudes."""
    t = np.arange(LEAD + LENGTH)[:, None]
    whole = (
        draw.normal(0, 0.1, (LEAD + LENGTH, FEATURES)) + draw.uniform(-0.001, 0.001, FEATURES) * t
    )
    for period in (24, 168):
        phase = draw.uniform(0, 2 * np.pi, FEATURES)
        whole = whole + draw.uniform(0.5, 2, FEATURES) * np.sin(2 * np.pi * t / period + phase)
    return whole


def inject(series: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Ten points, thirty values from 20 to 49 steps later, two raised segments, in one feature."""
    kind, spread = np.zeros(LENGTH, dtype=int), series.std(0)
    for at in draw.choice(LENGTH, 10, replace=False):
        feature = draw.integers(FEATURES)
        series[at, feature] += draw.choice((-1, 1)) * draw.uniform(3, 5) * spread[feature]
        kind[at] = POINT
    for at in draw.choice(LENGTH - 50, 30, replace=False):
        feature = draw.integers(FEATURES)
        series[at, feature] = series[at + draw.integers(20, 50), feature]
        kind[at] = CONTEXTUAL
    for _ in range(2):
        length, feature = draw.integers(5, 10), draw.integers(FEATURES)
        start = draw.integers(LENGTH - length + 1)
        series[start : start + length, feature] += draw.uniform(2, 4) * spread[feature]
        kind[start : start + length] = COLLECTIVE
    return kind


def wavy(points: int, features: int = 3, seed: int = 0) -> np.ndarray:
    """Clean waves with a little noise, of unit size."""
    draw = np.random.default_rng(seed)
    t = np.arange(points)[:, None]
    return np.sin(2 * np.pi * t / 24 + np.arange(features)) + draw.normal(
        0, 0.05, (points, features)
    )
