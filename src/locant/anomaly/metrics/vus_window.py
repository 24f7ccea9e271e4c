"""The window of VUS-PR for a series: its period, found as the benchmark TSB-AD finds it."""

from __future__ import annotations

import numpy as np

from locant.anomaly.metrics._vectors import Numbers

ROWS, LAGS = 20_000, 400  # the first rows are looked at, and lags up to this one
NEAREST, FARTHEST = 6, 303  # the periods that are believed, in rows
WITHOUT_PERIOD = 125


def vus_window(values: Numbers) -> int:
    """Find the lag at which the first column of a series (T,F) is most like itself again.

    It is the highest peak of the autocorrelation from lag 4 on. Where there is none, or where it
    lies outside 6..303 rows, the window is 125. These are the rules of TSB-AD 1.5
    (`find_length_rank`, rank 1).

    >>> vus_window(np.sin(2 * np.pi * np.arange(500) / 24)[:, None])
    24
    >>> vus_window(np.ones((500, 1)))
    125
    """
    column = values[:ROWS, 0]
    likeness = _autocorrelation(column / max(np.abs(column).max(), np.finfo(float).tiny))[
        3 : LAGS + 1
    ]
    inside = likeness[1:-1]
    peaks = 1 + np.flatnonzero((inside > likeness[:-2]) & (inside > likeness[2:]))
    if not len(peaks):
        return WITHOUT_PERIOD
    period = 3 + int(peaks[likeness[peaks].argmax()])
    return period if NEAREST <= period <= FARTHEST else WITHOUT_PERIOD


def _autocorrelation(column: Numbers) -> Numbers:
    """Sum the products of a column with itself at every lag, over the sum of squares, (T,)."""
    rest = column - column.mean()
    power = np.abs(np.fft.rfft(rest, 2 * len(rest))) ** 2
    products = np.fft.irfft(power, 2 * len(rest))[: len(rest)]
    return products / products[0] if products[0] > 0 else np.zeros(len(rest))
