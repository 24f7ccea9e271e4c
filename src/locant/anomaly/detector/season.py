"""The season of a series: after how many rows it looks like itself again."""

from __future__ import annotations

import numpy as np

from locant.anomaly.detector.method import Floats

LEAST, LONGEST = 4, 3  # rows; and it must be seen this many times
ENOUGH = 0.3  # of correlation with itself, a season later
NEARLY = 0.9  # of the best: its multiples are hardly better, so the shortest such is taken
MOST = 20_000  # rows that are looked at, the last ones


def find_season(values: Floats) -> int | None:
    """Rows of one season, from values (T,F); None when nothing comes back.

    >>> find_season(np.sin(2 * np.pi * np.arange(300) / 24)[:, None])
    24
    >>> find_season(np.arange(300.0)[:, None] ** 2) is None
    True
    """
    values = values[-MOST:]
    longest = len(values) // LONGEST
    if longest <= LEAST:
        return None
    likeness = np.mean([_likeness(column) for column in values.T], axis=0)[: longest + 1]
    below = np.flatnonzero(
        likeness < 0.5 * ENOUGH
    )  # the first hill is the point's own neighbourhood
    if not len(below):
        return None
    inner = np.arange(max(below[0], LEAST), longest)
    peaks = inner[
        (likeness[inner] >= likeness[inner - 1]) & (likeness[inner] >= likeness[inner + 1])
    ]
    peaks = peaks[likeness[peaks] >= ENOUGH]
    if not len(peaks):
        return None
    return int(peaks[likeness[peaks] >= NEARLY * likeness[peaks].max()][0])


def _likeness(column: Floats) -> Floats:
    """The correlation of a column with itself at every lag, without its straight line, (T,)."""
    time = np.arange(len(column)) - (len(column) - 1) / 2
    rest = column / max(
        np.abs(column).max(), np.finfo(float).tiny
    )  # squares of huge values do not fit into float64
    rest = rest - rest.mean()
    rest = rest - time * (time @ rest) / (time @ time)
    edge = 3 * rest.std()
    rest = np.clip(rest, -edge, edge)
    power = np.abs(np.fft.rfft(rest, 2 * len(rest))) ** 2
    lagged = np.fft.irfft(power)[: len(rest)] / np.arange(len(rest), 0, -1)  # the mean product
    return lagged / lagged[0] if lagged[0] > 0 else np.zeros(len(rest))
