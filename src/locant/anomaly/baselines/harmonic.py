r"""What a sum of waves and a straight line does not explain.

    expected(t) = c₀ + c₁·t + Σ_j (a_j·cos 2πf_j·t + b_j·sin 2πf_j·t)
    score(t)    = |x(t) − expected(t)|

Each feature has its own waves, found one by one: the strongest frequency of what is left over,
until nothing stands out of the noise. They are fitted to lead and series so that anomalies do not
bend the fit, and their frequencies are moved to where it is best: a period need not divide the
length. The score is the largest over features.

>>> x = np.sin(2 * np.pi * np.arange(300) / 23.7)[:, None]
>>> x[250] += 1
>>> score(x[:100], x[100:])[149:152].round(3) + 0
array([0., 1., 0.])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from locant._internal.checks import at_least, whole_number
from locant.anomaly.baselines._lead import TINY, checked
from locant.anomaly.baselines._robust import regress, spread, weighted

LEAD = "none"
CHANCE = 0.001  # noise has a peak so strong once in a thousand series: that is called a wave
POINTS = 8  # a wave takes three numbers: at most one wave to so many points


def score(
    lead: np.ndarray,
    series: np.ndarray,
    *,
    components: int = 8,
    periods: Sequence[float] | None = None,
) -> np.ndarray:
    """Score each point by its distance from the waves, (T,)."""
    return np.abs(series - fit(lead, series, components=components, periods=periods)).max(1)


def fit(
    lead: np.ndarray,
    series: np.ndarray,
    *,
    components: int = 8,
    periods: Sequence[float] | None = None,
) -> np.ndarray:
    """Predict the series, (T, F).

    components  at most so many waves are looked for in a feature
    periods     the periods, when they are known; nothing is looked for then
    """
    most = whole_number("harmonic", "components", components, least=0)
    known = (
        None
        if periods is None
        else [1 / at_least("harmonic", "every period", period, 2) for period in periods]
    )
    lead, series = checked("harmonic", lead, series, least=max(POINTS, 3 + 2 * len(known or ())))
    expected = []
    for values in np.concatenate([lead, series]).T:
        columns = _columns(len(values), _find(values, most) if known is None else known)
        expected.append(columns @ regress(columns, values)[0])
    return np.stack(expected, axis=1)[len(lead) :]


def find_periods(values: np.ndarray, *, components: int = 8) -> list[float]:
    """Find the periods of the waves in one feature, (n,), the strongest first.

    >>> t = np.arange(1000)
    >>> [round(period, 2) for period in find_periods(3 * np.sin(t / 5) + np.cos(t / 2) + 0.01 * t)]
    [31.42, 12.57]
    """
    most = whole_number("harmonic", "components", components, least=0)
    column = np.asarray(values)[:, None]
    _, column = checked("harmonic", column[:0], column, least=POINTS)
    return [1 / frequency for frequency in _find(column[:, 0], most)]


def _find(values: np.ndarray, most: int) -> list[float]:
    """Find the frequencies that stand out of the noise, refined together."""
    found: list[float] = []
    for _ in range(min(most, len(values) // POINTS)):
        columns = _columns(len(values), found)
        peak = _peak(values - columns @ regress(columns, values)[0], found)
        if peak is None:
            break
        found = _refined(values, [*found, peak])
    return found


def _peak(rest: np.ndarray, found: list[float]) -> float | None:
    """Find the strongest frequency of the rest; None when noise could have one as strong."""
    n, edge = len(rest), 3 * spread(rest)
    power = (
        np.abs(np.fft.rfft(np.clip(rest, -edge, edge), 4 * n)) ** 2
    )  # clipped: a spike has every frequency
    frequency = np.arange(len(power)) / (4 * n)
    noise = np.median(power[4::4]) / np.log(2)  # the mean of exponential values from their median
    power[frequency < 2 / n] = 0  # what is not seen twice is not known to come back
    for other in found:
        power[np.abs(frequency - other) < 1 / n] = 0  # nearer ones cannot be told apart
    best = int(power.argmax())
    stands_out = power[best] > noise * np.log(
        n / 2 / CHANCE
    )  # the largest of n/2 exponential values
    return float(frequency[best]) if stands_out and edge > 3 * TINY else None


def _refined(values: np.ndarray, frequencies: list[float]) -> list[float]:
    """Move all frequencies to where the fit is best (Gauss–Newton), by at most 1/4n at a time.

    They stay as they were when two would meet: that is one wave whose amplitude changes.
    """
    n, now = len(values), np.array(frequencies)
    weight = regress(_columns(n, now), values)[1]
    for _ in range(8):
        columns = _columns(n, now)
        numbers, weight = regress(columns, values, weight, rounds=1)
        cos, sin, a, b = columns[:, 2::2], columns[:, 3::2], numbers[2::2], numbers[3::2]
        slope = 2 * np.pi * _times(n) / n * (b * cos - a * sin)  # d expected / d (n·f), (n, waves)
        step = (
            weighted(np.concatenate([columns, slope], axis=1), values, weight)[len(numbers) :] / n
        )
        now = np.clip(now + np.clip(step, -0.25 / n, 0.25 / n), 1 / n, 0.5)
        if np.abs(step).max() < 1e-3 / n:
            break
    crowded = np.diff(np.sort(now)).min(initial=1.0) < 0.5 / n
    return frequencies if crowded else [float(frequency) for frequency in now]


def _columns(n: int, frequencies: Sequence[float] | np.ndarray) -> np.ndarray:
    """Stack 1, t, and the cosine and sine of each frequency, (n, 2 + 2·waves)."""
    t = _times(n)
    angle = 2 * np.pi * t * np.array(frequencies)  # (n, waves)
    waves = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(n, -1)
    return np.concatenate([np.ones((n, 1)), t / n, waves], axis=1)


def _times(n: int) -> np.ndarray:
    """Count steps with 0 in the middle, (n, 1): the trend is then orthogonal to the constant."""
    return (np.arange(n) - (n - 1) / 2)[:, None]
