"""Smooth residuals over time: one odd point may be chance, many near each other are not.

    smooth(t) = √( Σ_s w(s)·residual(t − s)² ),    w a Gaussian of std `width`, Σ w = 1

A root mean square and not a mean, so that a single large deviation still counts. Events are
narrowed afterwards to the points that caused them, so that nothing is smeared in what a person is
shown.
"""

from __future__ import annotations

import numpy as np

from locant.anomaly.metrics._vectors import Numbers

SHARE, MOST = 80, 200  # the width is this part of the series, and never more points
REACH = 3  # standard deviations on either side; beyond there is next to nothing


def default_width(length: int) -> int:
    """Return the default width for a series of so many points.

    >>> default_width(4000), default_width(50), default_width(10**6)
    (50, 0, 200)
    """
    return min(length // SHARE, MOST)


def smooth(deviations: Numbers, width: int) -> Numbers:
    """Smooth residuals (T,F) along time; at the ends over the rows that exist.

    >>> smooth(np.array([[0.0], [3.0], [0.0]]), 0).ravel().tolist()
    [0.0, 3.0, 0.0]
    >>> smooth(np.ones((5, 1)), 2).round(6).ravel().tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    if width == 0:
        return deviations.copy()
    weights = bell(width)
    there = _spread(np.ones(len(deviations)), weights)
    columns = [
        np.sqrt(np.maximum(_spread(column**2, weights), 0) / there) for column in deviations.T
    ]
    return np.stack(columns, axis=1)


def random_scores(points: int, width: int, seed: int = 0) -> Numbers:
    """Draw random scores, smoothed, (T,): every other score is compared with them.

    >>> random_scores(3, 0).round(3).tolist()
    [0.637, 0.27, 0.041]
    """
    return smooth(np.random.default_rng(seed).random((points, 1)), width)[:, 0]


def bell(width: int) -> Numbers:
    """Return the weights of a Gaussian, cut off at three standard deviations."""
    steps = np.arange(-REACH * width, REACH * width + 1)
    weights = np.exp(-0.5 * (steps / width) ** 2)
    return weights / weights.sum()


def _spread(values: Numbers, weights: Numbers) -> Numbers:
    """Convolve the values with the weights, by Fourier transforms: (T,)."""
    size = 1 << (len(values) + len(weights) - 1).bit_length()
    product = np.fft.rfft(values, size) * np.fft.rfft(weights, size)
    return np.fft.irfft(product, size)[len(weights) // 2 :][: len(values)]
