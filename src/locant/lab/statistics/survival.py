"""How many runs learned a task, and how soon: shares with intervals, times with censoring.

A run that had not reached the threshold after its last step is censored there: it might have
reached it later.
"""

from __future__ import annotations

import numpy as np
from scipy import stats


def jeffreys(count: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Compute the Jeffreys interval of a share; a share of 0 or 1 is itself an end of it.

    >>> [round(end, 3) for end in jeffreys(10, 10)], [round(end, 3) for end in jeffreys(5, 10)]
    ([0.783, 1.0], [0.224, 0.776])
    """
    tail = (1 - level) / 2
    low = 0.0 if count == 0 else float(stats.beta.ppf(tail, count + 0.5, of - count + 0.5))
    high = 1.0 if count == of else float(stats.beta.ppf(1 - tail, count + 0.5, of - count + 0.5))
    return low, high


def censor(times: list[float | None], horizon: float) -> np.ndarray:
    """Replace missing and late times by the horizon; the mean of the result is the restricted mean.

    >>> censor([50.0, None, 300.0], 250).tolist()
    [50.0, 250.0, 250.0]
    """
    return np.array([horizon if time is None else min(time, horizon) for time in times], float)


def survival(times: list[float | None], horizon: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the share of runs that have not learned yet, by step (Kaplan and Meier 1958).

    Every run that is left is censored at the horizon.

    >>> [part.round(3).tolist() for part in survival([50.0, 100.0, None], 250)]
    [[0.0, 50.0, 100.0, 250.0], [1.0, 0.667, 0.333, 0.333]]
    """
    events = sorted(time for time in times if time is not None and time <= horizon)
    steps = sorted(set(events))
    left = [1 - sum(event <= step for event in events) / len(times) for step in steps]
    last = left[-1] if left else 1.0
    return np.array([0.0, *steps, horizon]), np.array([1.0, *left, last])


def log_rank(a: list[float | None], b: list[float | None]) -> float:
    """Test whether two entrants learn equally fast: the p of Mantel's log-rank test (1966).

    >>> log_rank([50.0, 75.0], [50.0, 75.0])
    1.0
    >>> round(log_rank([50.0, 75.0, 50.0, 75.0], [None, None, None, None]), 3)
    0.008
    """
    events = sorted({time for time in [*a, *b] if time is not None})
    excess = variance = 0.0
    for time in events:
        at_risk = [sum(one is None or one >= time for one in times) for times in (a, b)]
        now = [sum(one == time for one in times) for times in (a, b)]
        all_at_risk, all_now = sum(at_risk), sum(now)
        excess += now[0] - all_now * at_risk[0] / all_at_risk
        if all_at_risk > 1:
            share = at_risk[0] / all_at_risk
            spread = all_now * share * (1 - share) * (all_at_risk - all_now)
            variance += spread / (all_at_risk - 1)
    return float(stats.chi2.sf(excess**2 / variance, 1)) if variance > 0 else 1.0
