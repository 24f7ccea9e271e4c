r"""How far a point is from where the most similar windows of the lead would have put it.

    nearest(w) = the lead's window v with the smallest ‖(w − w̄) − (v − v̄)‖
    score(t)   = |x(t) − mean over the windows w at t of (nearest(w) − mean + w̄)(t)|

w̄ is the mean of each feature; the score is the largest over features.

Means are taken off, so that a trend does not make every window new; scales are left, because they
are part of what is normal. A window holds all features: an anomaly in one does not mislead the
others.

>>> x = np.sin(np.arange(200) / 3)[:, None]
>>> x[150] += 1
>>> int(score(x[:100], x[100:], window=20).argmax())
50
"""

from __future__ import annotations

import numpy as np

from locant._internal.checks import whole_number
from locant.anomaly.baselines._lead import checked
from locant.anomaly.baselines._windows import BLOCK, cut, overlaid

LEAD = "clean"  # a series finds itself in itself


def score(lead: np.ndarray, series: np.ndarray, *, window: int = 96) -> np.ndarray:
    """Score each point by its distance from the lead's most similar windows, (T,)."""
    return np.abs(series - fit(lead, series, window=window)).max(1)


def fit(lead: np.ndarray, series: np.ndarray, *, window: int = 96) -> np.ndarray:
    """Predict the series, (T, F)."""
    window = whole_number("nearest_window", "window", window, least=2)
    lead, series = checked(
        "nearest_window", lead, series, least_lead=window, remedy="or a smaller window"
    )
    seen = cut(lead, window)  # (N, F, window)

    def expect(windows: np.ndarray) -> np.ndarray:
        return _level(windows) + _without_level(seen[_nearest(windows, seen)])

    return overlaid(lead, series, window, expect)


def _nearest(windows: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Find the index of the most similar window that was seen; blocks bound the memory.

    ‖w − v‖² = ‖w‖² − 2·w·v + ‖v‖², and ‖w‖² is the same for all v.
    """
    w = _without_level(windows).reshape(len(windows), -1)  # (B, F·window)
    best, least = np.zeros(len(w), dtype=int), np.full(len(w), np.inf)
    for start in range(0, len(seen), BLOCK):
        v = _without_level(seen[start : start + BLOCK])
        v = v.reshape(len(v), -1)
        apart = (v**2).sum(1) - 2 * w @ v.T  # (B, BLOCK)
        here = apart.argmin(1)
        nearer = apart.min(1) < least
        best[nearer], least[nearer] = start + here[nearer], apart.min(1)[nearer]
    return best


def _level(windows: np.ndarray) -> np.ndarray:
    return windows.mean(2, keepdims=True)


def _without_level(windows: np.ndarray) -> np.ndarray:
    return windows - _level(windows)
