"""Compare two entrants over the same seeds: how far apart they are, and how surely.

Scores are paired: the i-th of both come from the same seed, so from the same data, order and
initial weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import stats

MAX_EXACT_SEEDS = 12  # up to so many seeds every pattern of signs is tried
SIGN_DRAWS = 20_000  # beyond that, so many patterns are drawn


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences with its interval, test and sizes."""

    mean: float
    low: float
    high: float
    p: float
    cohens_d: float
    improvement: float
    seeds: int

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def compare(a: np.ndarray, b: np.ndarray, level: float = 0.95) -> Difference:
    """Compute a − b, seed by seed.

    >>> apart = compare(np.array([3.0, 4.0, 5.5]), np.array([1.0, 2.0, 3.0]))
    >>> round(apart.mean, 3), round(apart.low, 3), round(apart.high, 3), apart.p
    (2.167, 1.45, 2.884, 0.25)
    """
    d = np.asarray(a, float) - np.asarray(b, float)
    low, high = interval(d, level)
    return Difference(
        float(d.mean()), low, high, sign_flip(d), cohens_d(d), improvement(a, b), len(d)
    )


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Compute the t interval of a mean; with a single value it is infinite."""
    values = np.asarray(values, float)
    n = len(values)
    if n < 2:
        return float("-inf"), float("inf")
    half = stats.t.ppf(0.5 + level / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return float(values.mean() - half), float(values.mean() + half)


def sign_flip(differences: np.ndarray, seed: int = 0) -> float:
    """Compute the two-sided p of a sign-flip test: how often random signs give a mean this large.

    Exact up to twelve differences. The smallest p of n differences is 2/2ⁿ: .25 for 3, .0625 for 5,
    .031 for 6, .002 for 10.

    >>> sign_flip(np.ones(5)), sign_flip(np.ones(10))
    (0.0625, 0.001953125)
    """
    d = np.asarray(differences, float)
    seen = abs(d.sum()) * (1 - 1e-12)
    if len(d) <= MAX_EXACT_SEEDS:
        signs = np.array(list(product((1.0, -1.0), repeat=len(d))))
        return float((np.abs(signs @ d) >= seen).mean())
    signs = np.random.default_rng(seed).choice((1.0, -1.0), size=(SIGN_DRAWS, len(d)))
    return float((1 + (np.abs(signs @ d) >= seen).sum()) / (SIGN_DRAWS + 1))


def holm(ps: list[float]) -> list[float]:
    """Correct p values for their number (Holm 1979), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(ps)
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = largest
    return adjusted


def step_down(differences: np.ndarray, seed: int = 0) -> list[float]:
    """Correct many sign-flip tests at once, by their joint distribution (Westfall and Young 1993).

    differences  (seeds, comparisons)

    One pattern of signs flips every comparison of a seed alike, so the smallest p of n seeds stays
    2/2ⁿ however many comparisons there are. Holm's correction does not know how the comparisons
    depend on each other: with 10 seeds and 78 pairs it could never reach .05 (78·.002 = .15).

    >>> step_down(np.array([[1.0, 0.1]] * 5 + [[1.0, -0.1]] * 5))
    [0.00390625, 1.0]
    """
    seen, flipped = _flipped(differences, seed)
    order = np.argsort(-seen)
    weakest_first = flipped[:, order][:, ::-1]
    largest = np.maximum.accumulate(weakest_first, axis=1)[:, ::-1]  # of this and all weaker ones
    ps = np.maximum.accumulate((largest >= seen[order] - 1e-9).mean(0))
    corrected = np.empty(len(seen))
    corrected[order] = ps
    return [float(p) for p in corrected]


def corrected_level(differences: np.ndarray, alpha: float = 0.05) -> float:
    """Find the level of a single paired t test that is as hard to pass as `step_down`'s first step.

    >>> draws = np.random.default_rng(0).normal(size=(10, 30))
    >>> corrected_level(draws) < 0.01 < 0.04 < corrected_level(draws[:, :1]) < 0.07
    True
    """
    n = len(differences)
    _, flipped = _flipped(differences)
    edge = float(np.quantile(flipped.max(1), 1 - alpha, method="higher"))  # |Σ|/√Σd², at most √n
    if edge**2 >= n - 1e-9:
        return 2 / 2**n
    return float(2 * stats.t.sf(edge * np.sqrt((n - 1) / (n - edge**2)), n - 1))


def _flipped(differences: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Compute |Σ|/√Σd², which grows with |t|: of every comparison, and with signs flipped."""
    d = np.asarray(differences, float)
    seeds = len(d)
    size = np.sqrt((d**2).sum(0))
    d = d / np.where(size > 0, size, 1.0)
    if seeds <= MAX_EXACT_SEEDS:
        signs = np.array(list(product((1.0, -1.0), repeat=seeds)))
    else:
        drawn = np.random.default_rng(seed).choice((1.0, -1.0), size=(SIGN_DRAWS, seeds))
        signs = np.vstack([np.ones(seeds), drawn])
    return np.abs(d.sum(0)), np.abs(signs @ d)


def equivalent(differences: np.ndarray, margin: float, alpha: float = 0.05) -> bool:
    """Test whether the mean lies within ± margin: two one-sided t tests (Schuirmann 1987).

    >>> small = np.array([0.01, -0.01, 0.0, 0.01])
    >>> equivalent(small, 0.02), equivalent(10 * small, 0.02)
    (True, False)
    """
    low, high = interval(differences, 1 - 2 * alpha)
    return -margin < low and high < margin


def cohens_d(differences: np.ndarray) -> float:
    """Divide the mean difference by the standard deviation; infinite when all are equal."""
    d = np.asarray(differences, float)
    spread = d.std(ddof=1) if len(d) > 1 else 0.0
    if spread == 0:
        return 0.0 if d.mean() == 0 else float(np.copysign(np.inf, d.mean()))
    return float(d.mean() / spread)


def improvement(a: np.ndarray, b: np.ndarray) -> float:
    """Estimate the probability that a run of a beats a run of b; ties count half.

    Agarwal et al. 2021, arXiv:2108.13264.

    >>> improvement(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    0.875
    """
    gaps = np.asarray(a, float)[:, None] - np.asarray(b, float)[None, :]
    return float((gaps > 0).mean() + 0.5 * (gaps == 0).mean())


def detectable(spread: float, seeds: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Find the smallest mean difference that a paired t test over so many seeds would see.

    spread  standard deviation of the paired differences

    >>> round(detectable(1.0, 10), 3)
    0.996
    """
    if seeds < 2:
        return float("inf")
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, seeds, alpha) > power else (middle, high)
    return spread * high


def seeds_needed(
    effect: float, spread: float, *, alpha: float = 0.05, power: float = 0.8, most: int = 1000
) -> int | None:
    """Count the seeds that would find this difference; None when more than `most`.

    >>> seeds_needed(1.0, 1.0)
    10
    """
    if effect == 0:
        return None
    if spread == 0:
        return 6
    size = abs(effect) / spread
    low, high = 6, most
    if _power(size, high, alpha) < power:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(size, middle, alpha) >= power else (middle + 1, high)
    return low


def _power(size: float, seeds: int, alpha: float) -> float:
    """Compute the power of the two-sided paired t test for a standardized difference."""
    edge, shift = stats.t.ppf(1 - alpha / 2, seeds - 1), size * np.sqrt(seeds)
    value = stats.nct.sf(edge, seeds - 1, shift) + stats.nct.cdf(-edge, seeds - 1, shift)
    if np.isnan(value):
        return 1.0  # scipy does not compute the far tail: the test passes for certain
    return float(value)
