r"""How far a point is from the median of the points around it.

    score(t) = |x(t) − median(x(t−2), …, x(t+2))|,      the largest over features

Near the end of the series the window stands still: the last three points share the last five.

>>> score(np.zeros((2, 1)), np.array([[0.0], [3.0], [1.0], [0.0]]))
array([0., 3., 1., 0.])
"""

from __future__ import annotations

import numpy as np

from locant._internal.checks import whole_number
from locant.anomaly.baselines._lead import checked
from locant.anomaly.baselines._windows import around

LEAD = "none"


def score(lead: np.ndarray, series: np.ndarray, *, window: int = 5) -> np.ndarray:
    """Score each point by its distance from its rolling median, (T,)."""
    if whole_number("rolling_median", "window", window, least=3) % 2 == 0:
        raise ValueError(
            f"rolling_median needs an odd window: the point is in its middle. Got {window} instead."
        )
    lead, series = checked(
        "rolling_median", lead, series, least=window, remedy="or a smaller window"
    )
    windows, _ = around(np.concatenate([lead, series]), window)
    return np.abs(series - np.median(windows, axis=2)[len(lead) :]).max(1)
