"""How many runs learnt a task, and how soon: shares with intervals, times with censoring. No torch.

A run that had not reached the threshold when its steps were over is censored there: it might have, later.
"""

from __future__ import annotations

import numpy as np
from scipy import stats


def jeffreys(count: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """The Jeffreys interval of a share; at an end of the scale it reaches that end.

    >>> [round(end, 3) for end in jeffreys(10, 10)], [round(end, 3) for end in jeffreys(5, 10)]
    ([0.783, 1.0], [0.224, 0.776])
    """
    tail = (1 - level) / 2
    low = 0.0 if count == 0 else float(stats.beta.ppf(tail, count + 0.5, of - count + 0.5))
    high = 1.0 if count == of else float(stats.beta.ppf(1 - tail, count + 0.5, of - count + 0.5))
    return low, high


def restricted(times: list[float | None], horizon: float) -> np.ndarray:
    """Times up to a horizon, at which those that have none are censored; their mean is the restricted mean.

    >>> restricted([50.0, None, 300.0], 250).tolist()
    [50.0, 250.0, 250.0]
    """
    return np.array([horizon if time is None else min(time, horizon) for time in times], float)


def survival(times: list[float | None], horizon: float) -> tuple[np.ndarray, np.ndarray]:
    """The share that has not learnt yet, after each time at which one did (Kaplan and Meier 1958, censored at the end).

    >>> [part.round(3).tolist() for part in survival([50.0, 100.0, None], 250)]
    [[0.0, 50.0, 100.0, 250.0], [1.0, 0.667, 0.333, 0.333]]
    """
    events = sorted(time for time in times if time is not None and time <= horizon)
    at = sorted(set(events))
    left = [1 - sum(event <= time for event in events) / len(times) for time in at]
    return np.array([0.0, *at, horizon]), np.array([1.0, *left, left[-1] if left else 1.0])


def log_rank(a: list[float | None], b: list[float | None]) -> float:
    """Two-sided p of the log-rank test: do two rows learn at the same pace? (Mantel 1966)

    >>> log_rank([50.0, 75.0], [50.0, 75.0])
    1.0
    >>> round(log_rank([50.0, 75.0, 50.0, 75.0], [None, None, None, None]), 3)
    0.008
    """
    events = sorted({time for time in [*a, *b] if time is not None})
    excess = variance = 0.0
    for time in events:
        risk = [sum(one is None or one >= time for one in row) for row in (a, b)]
        now = [sum(one == time for one in row) for row in (a, b)]
        all_risk, all_now = sum(risk), sum(now)
        excess += now[0] - all_now * risk[0] / all_risk
        if all_risk > 1:
            share = risk[0] / all_risk
            variance += all_now * share * (1 - share) * (all_risk - all_now) / (all_risk - 1)
    return float(stats.chi2.sf(excess**2 / variance, 1)) if variance > 0 else 1.0
