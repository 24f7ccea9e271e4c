r"""How far a point is from a parabola through its neighbors.

    score(t) = |x(t) − p(t)|,
    p = the least-squares parabola of x(t−3), x(t−2), x(t−1), x(t+1), x(t+2), x(t+3)

The point itself is left out, so that it cannot bend the parabola towards itself. Near the end of
the series the window stands still and the parabola is continued to the point; scores are scaled so
that noise scores there as elsewhere, though the parabola is less sure. The score is the largest
over features.

>>> x = np.arange(10.0)[:, None] ** 2
>>> x[6] += 4
>>> float(score(x[:3], x[3:])[3].round(3))
4.0
"""

from __future__ import annotations

import numpy as np

from locant._internal.checks import whole_number
from locant.anomaly.baselines._lead import checked
from locant.anomaly.baselines._windows import around

LEAD = "none"


def score(lead: np.ndarray, series: np.ndarray, *, reach: int = 3) -> np.ndarray:
    """Score each point by its distance from the parabola of `reach` neighbors on either side."""
    width = 2 * whole_number("local_quadratic", "reach", reach, least=2) + 1
    lead, series = checked(
        "local_quadratic", lead, series, least=width, remedy="or a smaller reach"
    )
    windows, index = around(np.concatenate([lead, series]), width)
    weights = np.stack([_weights(width, left_out) for left_out in range(width)])
    expected = np.einsum("nfw,nw->nf", windows, weights[index])  # (n, F)
    noise = np.sqrt(1 + (weights**2).sum(1))  # of x − p, where x has noise of size 1
    return (
        np.abs(series - expected[len(lead) :]).max(1)
        * (noise[width // 2] / noise)[index[len(lead) :]]
    )


def _weights(width: int, left_out: int) -> np.ndarray:
    """Return the weight of each point of a window in the parabola's value at the one left out.

    >>> _weights(5, 2).round(3).tolist()
    [-0.167, 0.667, 0.0, 0.667, -0.167]
    """
    steps = np.delete(np.arange(width) - left_out, left_out)
    return np.insert(np.linalg.pinv(np.vander(steps, 3, increasing=True))[0], left_out, 0.0)
