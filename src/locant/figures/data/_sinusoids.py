"""Find sinusoids: which columns are a·cos(ωp) + b·sin(ωp) over p = 0, 1, 2, …, and with which ω.

A sinusoid obeys  v(p + h) + v(p − h) = 2·cos(ωh)·v(p).  The step h doubles, so that slow waves are
known as well as fast ones; then the wave is fitted, and a column with a residual is none.

>>> p = np.arange(100.0)
>>> found = frequencies(np.stack([np.sin(p), np.cos(p / 100), p, np.sqrt(p), np.ones(100)], 1))
>>> [round(float(1 / omega), 6) for omega in found]
[1.0, 100.0, nan, nan, nan]
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from locant.encodings.base import Encoding, overrides
from locant.figures.data.base import (
    Array,
    NotApplicable,
    as_positions,
    observed_positions,
    position_vectors,
    rotated,
    rotated_ones,
)

Mask = NDArray[np.bool_]

MIN_POSITIONS = 8
MAX_RESIDUAL = 1e-4  # relative to a column's largest value: users compute in float32
MAX_ARC_RESIDUAL = 1e-6  # less than one full turn could be any curve
MIN_ANGLE = 1e-3  # radians over all positions; less is a straight line


def frequencies(values: Array) -> Array:
    """Return ω of every column of values (T, W), in radians per position; nan for a column that is
    no wave."""
    count, width = values.shape
    if count < MIN_POSITIONS:
        return np.full(width, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        omega = _angle(values, 1)
        step = 2
        while 4 * step <= count:
            omega = _nearest(_angle(values, step), omega, step)
            step *= 2
    slow = ~(omega * count > MIN_ANGLE)
    bound = np.where(omega * count >= 2 * np.pi, MAX_RESIDUAL, MAX_ARC_RESIDUAL)
    residual = _residual(values, np.where(slow, 1.0, omega))
    return np.where(slow | (residual > bound), np.nan, omega)


def _angle(values: Array, step: int) -> Array:
    """Return ωh folded into 0..π, from 1 − cos(ωh) = 2·sin²(ωh/2)."""
    middle = values[step:-step]
    bend = ((2 * middle - values[2 * step :] - values[: -2 * step]) * middle).sum(0)
    bend = bend / (2 * (middle**2).sum(0))
    return 2 * np.arcsin(np.sqrt(np.clip(bend / 2, 0, 1)))


def _nearest(angle: Array, omega: Array, step: int) -> Array:
    """Choose, of all ω with this folded angle at this step, the one nearest to what is known."""
    turns = []
    for signed in (angle, -angle):
        full = np.round((omega * step - signed) / (2 * np.pi))
        turns.append(signed + 2 * np.pi * full)
    guesses = np.stack(turns) / step
    nearest = np.abs(guesses - omega).argmin(0)
    return np.take_along_axis(guesses, nearest[None], 0)[0]


def amplitudes(values: Array, omega: Array) -> tuple[Array, Array]:
    """Fit how much cosine and how much sine of its ω is in each column, by least squares.

    >>> p = np.arange(50.0)[:, None]
    >>> cosine, sine = amplitudes(np.sin(p / 7) - 2 * np.cos(p / 7), np.array([1 / 7]))
    >>> round(float(cosine[0]), 9), round(float(sine[0]), 9)
    (-2.0, 1.0)
    """
    angle = np.arange(len(values))[:, None] * omega
    cosine, sine = np.cos(angle), np.sin(angle)
    cc, ss, cs = (cosine**2).sum(0), (sine**2).sum(0), (cosine * sine).sum(0)
    vc, vs = (values * cosine).sum(0), (values * sine).sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = cc * ss - cs**2
        return (vc * ss - vs * cs) / determinant, (vs * cc - vc * cs) / determinant


def _residual(values: Array, omega: Array) -> Array:
    """Return the residual of the best wave of each ω, relative to its column's largest value."""
    a, b = amplitudes(values, omega)
    angle = np.arange(len(values))[:, None] * omega
    fitted = a * np.cos(angle) + b * np.sin(angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = np.abs(values - fitted).max(0) / np.abs(values).max(0)
    return np.nan_to_num(residual, nan=np.inf)


def pair_dimensions(omega: Array, joined: Mask | None = None) -> list[tuple[int, int]]:
    """Pair the columns that share a frequency, two by two, in the order of their first.

    joined  whether two columns may be a pair (W, W); any two by default

    >>> pair_dimensions(np.array([1.0, 0.1, np.nan, 1.0, 0.1]))
    [(0, 3), (1, 4)]
    >>> pair_dimensions(np.ones(4), np.eye(4, k=2, dtype=bool))
    [(0, 2), (1, 3)]
    """
    found: list[tuple[int, int]] = []
    free = [column for column in range(len(omega)) if np.isfinite(omega[column])]
    while free:
        first = free.pop(0)
        for other in free:
            same = abs(omega[other] - omega[first]) <= 1e-6 * omega[first]
            if same and (joined is None or joined[first, other]):
                free.remove(other)
                found.append((first, other))
                break
    return found


def vector_frequencies(encoding: Encoding) -> Array:
    """Return the frequency of every dimension of the position vectors that is a wave, nan for the
    others."""
    return frequencies(position_vectors(encoding, observed_positions(encoding)).numpy())


def rotation_frequencies(encoding: Encoding) -> Array:
    """Return the angle by which each dimension of a key rotates per position, nan where it does
    not."""
    if not overrides(encoding, "rotate"):
        raise NotApplicable("it rotates no queries and keys")
    return frequencies(rotated_ones(encoding, observed_positions(encoding)).numpy())


def rotated_pairs(encoding: Encoding, omega: Array) -> list[tuple[int, int]]:
    """Pair the dimensions that rotate together: their frequency is the same, and one coordinate of
    a key moves both."""
    width = encoding.shape.head
    start = torch.linspace(1, 2, width, dtype=torch.float64)
    one_larger = start + torch.eye(width, dtype=torch.float64)  # one coordinate is larger by 1
    keys = torch.cat([start[None], one_larger])
    out = rotated(encoding, keys, as_positions(*[1] * (width + 1)))[1]
    moves = (out[1:] != out[0]).double()  # (d, ·): what each coordinate moves
    return pair_dimensions(np.abs(omega), (moves.T @ moves).numpy() > 0)
