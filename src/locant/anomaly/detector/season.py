"""The seasons of a series: the steps after which it repeats itself, in time units where it can."""

from __future__ import annotations

import numpy as np

from locant.anomaly.detector.time_grid import Flags, Floats, TimeAxis

MIN_SEASON = 4  # steps
MIN_REPEATS = 3  # a season must be seen this many times
MIN_CORRELATION = 0.3  # of the series with itself, a season later
NEARLY = 0.9  # of the best correlation: multiples are hardly better, so the shortest such is taken
HILL = 4  # the top of a hill is at most this part of its first peak away
ALIKE = 0.7  # of a season's correlation: a multiple with less tells nothing of it
MIN_PAIRS = 0.1  # of the pairs that a complete series would have: with fewer, a lag is not judged
MAX_ROWS = 20_000  # that are read, the last ones
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def find_season(values: Floats, observed: Flags | None = None) -> int | None:
    """Find the steps of one season in values (T,F); None when nothing repeats.

    observed  (T,F): values that are False there do not count

    >>> find_season(np.sin(2 * np.pi * np.arange(300) / 24)[:, None])
    24
    >>> find_season(np.arange(300.0)[:, None] ** 2) is None
    True
    """
    seasons = find_seasons(values, observed)
    return seasons[0] if seasons else None


def find_seasons(values: Floats, observed: Flags | None = None) -> tuple[int, ...]:
    """Find the season, and the shorter one inside it where there is one: a week and its days.

    >>> days = np.sin(2 * np.pi * np.arange(2000) / 24) * (np.arange(2000) // 24 % 7 < 5)
    >>> find_seasons(days[:, None])
    (168, 24)
    """
    values = values[-MAX_ROWS:]
    longest = len(values) // MIN_REPEATS
    if longest <= MIN_SEASON:
        return ()
    known = np.ones(values.shape, np.bool_) if observed is None else observed[-MAX_ROWS:]
    columns = zip(values.T, known.T, strict=True)
    correlation = np.mean([_autocorrelation(*column) for column in columns], axis=0)
    correlation = correlation[: longest + 1]
    # The first hill is the row's own neighborhood: peaks count after it.
    below = np.flatnonzero(correlation < 0.5 * MIN_CORRELATION)
    if not len(below):
        return ()
    inner = np.arange(max(below[0], MIN_SEASON), longest)
    after_rise = correlation[inner] >= correlation[inner - 1]
    before_fall = correlation[inner] >= correlation[inner + 1]
    peaks = inner[after_rise & before_fall]
    peaks = peaks[correlation[peaks] >= MIN_CORRELATION]
    if not len(peaks):
        return ()
    nearly = peaks[correlation[peaks] >= NEARLY * correlation[peaks].max()]
    season, shorter = _hilltop(correlation, nearly[0]), _hilltop(correlation, peaks[0])
    return (season, shorter) if 2 * shorter <= season else (season,)


def season_text(steps: int, axis: TimeAxis) -> str:
    """Write a season in time units; in rows where there are no times.

    >>> season_text(168, TimeAxis(np.datetime64("2014-02-14", "ns"), 3600.0))
    '168 hours'
    >>> season_text(288, TimeAxis(np.datetime64("2014-02-14", "ns"), 300.0))
    '24 hours'
    >>> season_text(24, TimeAxis()), season_text(24, TimeAxis(0.0, 0.5))
    ('24 rows', '12 units of time')
    """
    if axis.start is None:
        return f"{steps} rows"
    length = steps * axis.step
    if not axis.dated:
        return f"{length:.6g} units of time"
    for unit, seconds in UNITS:
        if unit == "day" and axis.step < seconds:
            continue
        if length % seconds == 0:
            count = int(length // seconds)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{length:.4g} seconds"


def _hilltop(correlation: Floats, peak: int) -> int:
    """Return the top of the hill that a peak is on, as its multiples agree on it.

    Noise makes peaks on the way up, and moves the top; that of a multiple is moved no more, and
    divided by the number of seasons it tells better where the first one is.
    """
    season = peak + int(correlation[peak : peak + max(1, peak // HILL) + 1].argmax())
    refined, times = float(season), 2
    while (times + 1 / HILL) * refined < len(correlation):
        middle, reach = round(times * refined), max(1, int(refined / HILL))
        top = middle - reach + int(correlation[middle - reach : middle + reach + 1].argmax())
        if correlation[top] < ALIKE * correlation[season]:
            break
        refined, times = top / times, 2 * times
    return round(refined)


def _autocorrelation(column: Floats, known: Flags) -> Floats:
    """Correlate a column with itself at every lag, without its linear trend, (T,).

    Only pairs of known values count.
    """
    time = np.flatnonzero(known) - (len(column) - 1) / 2
    column = column[known]
    if not len(column):
        return np.zeros(len(known))
    # Squares of huge values do not fit into float64.
    rest = column / max(np.abs(column).max(), np.finfo(float).tiny)
    rest = rest - rest.mean()
    rest = rest - time * (time @ rest) / max(time @ time, 1.0)
    edge = 3 * rest.std()
    at_every_step = np.zeros(len(known))
    at_every_step[known] = np.clip(rest, -edge, edge)
    complete = np.arange(len(known), 0, -1)
    pairs = complete.astype(np.float64)
    if not known.all():
        pairs = np.rint(_lagged_products(known.astype(np.float64)))
    products = _lagged_products(at_every_step)
    sufficient = pairs >= MIN_PAIRS * complete * known.mean()
    lagged = np.where(sufficient, products / np.maximum(pairs, 1), 0.0)  # the mean product
    return lagged / lagged[0] if lagged[0] > 0 else np.zeros(len(known))


def _lagged_products(values: Floats) -> Floats:
    """Sum the products of values (T,) with themselves at every lag, (T,)."""
    power = np.abs(np.fft.rfft(values, 2 * len(values))) ** 2
    return np.fft.irfft(power)[: len(values)]
