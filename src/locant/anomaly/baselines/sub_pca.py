r"""What the main patterns of the lead's windows cannot put together.

    expected window = mean + Σ_k (v_k·(window − mean))·v_k
    score(t)        = |x(t) − mean over the windows at t of what they expect there|

v_k are the first right singular vectors of the lead's windows. The score is the largest over
features.

A window holds all features, so that they vouch for each other. A wave takes two patterns, a trend
one: six are enough for two seasons.

>>> x = np.sin(np.arange(200) / 3)[:, None]
>>> x[150] += 1
>>> int(score(x[:100], x[100:], window=20, components=2).argmax())
50
"""

from __future__ import annotations

import numpy as np

from locant._internal.checks import whole_number
from locant.anomaly.baselines._lead import checked
from locant.anomaly.baselines._windows import cut, overlaid


def score(
    lead: np.ndarray, series: np.ndarray, *, window: int = 96, components: int = 6
) -> np.ndarray:
    """Score each point by its distance from its reconstructions, (T,)."""
    return np.abs(series - fit(lead, series, window=window, components=components)).max(1)


def fit(
    lead: np.ndarray, series: np.ndarray, *, window: int = 96, components: int = 6
) -> np.ndarray:
    """Predict the series, (T, F).

    window      points that a pattern spans
    components  how many patterns
    """
    window = whole_number("sub_pca", "window", window, least=2)
    components = whole_number("sub_pca", "components", components)
    remedy = "a smaller window or fewer components"
    lead, series = checked("sub_pca", lead, series, least_lead=window + components, remedy=remedy)
    seen = cut(lead, window).reshape(-1, lead.shape[1] * window)  # (N, F·window)
    mean = seen.mean(0)
    patterns = np.linalg.svd(seen - mean, full_matrices=False)[2][
        :components
    ]  # (components, F·window)

    def expect(windows: np.ndarray) -> np.ndarray:
        apart = windows.reshape(len(windows), -1) - mean
        return (mean + apart @ patterns.T @ patterns).reshape(windows.shape)

    return overlaid(lead, series, window, expect)
