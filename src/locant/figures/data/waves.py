"""Finding waves in numbers: which columns are a·cos(ωp) + b·sin(ωp) over p = 0, 1, 2, …, and with which ω.

A wave obeys  v(p + h) + v(p − h) = 2·cos(ωh)·v(p).  The step h doubles, so that slow waves are known as well as quick
ones; then the wave is fitted, and what leaves a rest is none.

>>> p = np.arange(100.0)
>>> found = frequencies(np.stack([np.sin(p), np.cos(p / 100), p, np.sqrt(p), np.ones(100)], 1))
>>> [round(float(1 / omega), 6) for omega in found]
[1.0, 100.0, nan, nan, nan]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from locant.figures.data.hooks import Array

Mask = NDArray[np.bool_]

FEWEST = 8  # positions
REST = 1e-4  # of a column's size: users compute in float32
REST_OF_AN_ARC = 1e-6  # less than one turn could be any curve
SLOWEST = 1e-3  # radians over all positions; less is a straight line


def frequencies(values: Array) -> Array:
    """ω of every column of values (T, W), in radians a position; nan for a column that is no wave."""
    count, width = values.shape
    if count < FEWEST:
        return np.full(width, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        omega = _angle(values, 1)
        step = 2
        while 4 * step <= count:
            omega = _nearest(_angle(values, step), omega, step)
            step *= 2
    slow = ~(omega * count > SLOWEST)
    bound = np.where(omega * count >= 2 * np.pi, REST, REST_OF_AN_ARC)
    return np.where(slow | (_rest(values, np.where(slow, 1.0, omega)) > bound), np.nan, omega)


def _angle(values: Array, step: int) -> Array:
    """ωh folded into 0..π, from 1 − cos(ωh) = 2·sin²(ωh/2)."""
    middle = values[step:-step]
    bend = ((2 * middle - values[2 * step :] - values[: -2 * step]) * middle).sum(0) / (
        2 * (middle**2).sum(0)
    )
    return 2 * np.arcsin(np.sqrt(np.clip(bend / 2, 0, 1)))


def _nearest(angle: Array, omega: Array, step: int) -> Array:
    """Of all ω with this folded angle at this step, the one nearest to what is known."""
    turns = [
        sign * angle + 2 * np.pi * np.round((omega * step - sign * angle) / (2 * np.pi))
        for sign in (1, -1)
    ]
    guesses = np.stack(turns) / step
    return np.take_along_axis(guesses, np.abs(guesses - omega).argmin(0)[None], 0)[0]


def amounts(values: Array, omega: Array) -> tuple[Array, Array]:
    """How much cosine and how much sine of its ω is in each column, by least squares.

    >>> p = np.arange(50.0)[:, None]
    >>> cosine, sine = amounts(np.sin(p / 7) - 2 * np.cos(p / 7), np.array([1 / 7]))
    >>> round(float(cosine[0]), 9), round(float(sine[0]), 9)
    (-2.0, 1.0)
    """
    at = np.arange(len(values))[:, None] * omega
    cosine, sine = np.cos(at), np.sin(at)
    cc, ss, cs = (cosine**2).sum(0), (sine**2).sum(0), (cosine * sine).sum(0)
    vc, vs = (values * cosine).sum(0), (values * sine).sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (vc * ss - vs * cs) / (cc * ss - cs**2), (vs * cc - vc * cs) / (cc * ss - cs**2)


def _rest(values: Array, omega: Array) -> Array:
    """What the best wave of each ω leaves of its column, as a share of the column's size."""
    a, b = amounts(values, omega)
    at = np.arange(len(values))[:, None] * omega
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.abs(values - a * np.cos(at) - b * np.sin(at)).max(0) / np.abs(values).max(0)
    return np.nan_to_num(rest, nan=np.inf)


def pairs(omega: Array, joined: Mask | None = None) -> list[tuple[int, int]]:
    """The columns that share a frequency, two by two, in the order of their first.

    joined  whether two columns may be a pair (W, W); any two by default

    >>> pairs(np.array([1.0, 0.1, np.nan, 1.0, 0.1]))
    [(0, 3), (1, 4)]
    >>> pairs(np.ones(4), np.eye(4, k=2, dtype=bool))
    [(0, 2), (1, 3)]
    """
    found: list[tuple[int, int]] = []
    free = [column for column in range(len(omega)) if np.isfinite(omega[column])]
    while free:
        first = free.pop(0)
        alike = (other for other in free if abs(omega[other] - omega[first]) <= 1e-6 * omega[first])
        mate = next((other for other in alike if joined is None or joined[first, other]), None)
        if mate is not None:
            free.remove(mate)
            found.append((first, mate))
    return found
