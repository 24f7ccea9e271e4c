"""The season of a series: the number of rows after which it repeats itself."""

from __future__ import annotations

import numpy as np

from locant.anomaly.detector.segments import Floats

MIN_SEASON = 4  # rows
MIN_REPEATS = 3  # a season must be seen this many times
MIN_CORRELATION = 0.3  # of the series with itself, a season later
NEARLY = 0.9  # of the best correlation: multiples are hardly better, so the shortest such is taken
MAX_ROWS = 20_000  # that are read, the last ones


def find_season(values: Floats) -> int | None:
    """Find the rows of one season in values (T,F); None when nothing repeats.

    >>> find_season(np.sin(2 * np.pi * np.arange(300) / 24)[:, None])
    24
    >>> find_season(np.arange(300.0)[:, None] ** 2) is None
    True
    """
    values = values[-MAX_ROWS:]
    longest = len(values) // MIN_REPEATS
    if longest <= MIN_SEASON:
        return None
    correlation = np.mean([_autocorrelation(column) for column in values.T], axis=0)
    correlation = correlation[: longest + 1]
    # The first hill is the row's own neighborhood: peaks count after it.
    below = np.flatnonzero(correlation < 0.5 * MIN_CORRELATION)
    if not len(below):
        return None
    inner = np.arange(max(below[0], MIN_SEASON), longest)
    after_rise = correlation[inner] >= correlation[inner - 1]
    before_fall = correlation[inner] >= correlation[inner + 1]
    peaks = inner[after_rise & before_fall]
    peaks = peaks[correlation[peaks] >= MIN_CORRELATION]
    if not len(peaks):
        return None
    return int(peaks[correlation[peaks] >= NEARLY * correlation[peaks].max()][0])


def _autocorrelation(column: Floats) -> Floats:
    """Correlate a column with itself at every lag, without its linear trend, (T,)."""
    time = np.arange(len(column)) - (len(column) - 1) / 2
    # Squares of huge values do not fit into float64.
    rest = column / max(np.abs(column).max(), np.finfo(float).tiny)
    rest = rest - rest.mean()
    rest = rest - time * (time @ rest) / (time @ time)
    edge = 3 * rest.std()
    rest = np.clip(rest, -edge, edge)
    power = np.abs(np.fft.rfft(rest, 2 * len(rest))) ** 2
    lagged = np.fft.irfft(power)[: len(rest)] / np.arange(len(rest), 0, -1)  # the mean product
    return lagged / lagged[0] if lagged[0] > 0 else np.zeros(len(rest))
