r"""How sharply the series bends at a point.

    score(t) = |x(t−1) − 2·x(t) + x(t+1)|,      the largest over features

The last point has no next one: it is given the bend of the point before it.

>>> score(np.array([[0.0], [0.0]]), np.array([[0.0], [3.0], [0.0], [0.0]]))
array([3., 6., 3., 3.])
"""

from __future__ import annotations

import numpy as np

from locant.anomaly.baselines._lead import checked
from locant.anomaly.baselines._windows import around

LEAD = "none"


def score(lead: np.ndarray, series: np.ndarray) -> np.ndarray:
    """Compute the second difference at each point, (T,)."""
    lead, series = checked("second_difference", lead, series, least=3)
    windows, _ = around(np.concatenate([lead, series]), 3)
    return np.abs(windows @ np.array([1.0, -2.0, 1.0])).max(1)[len(lead) :]
