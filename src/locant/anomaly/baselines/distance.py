r"""How far a value is from the mean of the lead, in standard deviations.

    score(t) = |x(t) − mean| / std,      the largest over features

The baseline that knows nothing of order: shuffling the series shuffles its scores.

>>> score(np.array([[1.0], [3.0]]), np.array([[2.0], [5.0]]))
array([0., 3.])
"""

from __future__ import annotations

import numpy as np

from locant.anomaly.baselines._lead import TINY, checked


def score(lead: np.ndarray, series: np.ndarray) -> np.ndarray:
    """Count standard deviations from the mean of the lead, (T,); a constant lead counts as 1."""
    lead, series = checked("distance", lead, series, least_lead=2)
    spread = lead.std(0)
    return np.abs((series - lead.mean(0)) / np.where(spread > TINY, spread, 1.0)).max(1)
