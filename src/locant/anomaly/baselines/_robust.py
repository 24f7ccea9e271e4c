"""Robust least squares: Tukey's bisquare by reweighting (Beaton and Tukey 1974)."""

from __future__ import annotations

import numpy as np

from locant.anomaly.baselines._lead import TINY

CUT = 4.685  # in standard deviations; 95 % as efficient as least squares when nothing is wrong


def regress(
    columns: np.ndarray, values: np.ndarray, weight: np.ndarray | None = None, rounds: int = 20
) -> tuple[np.ndarray, np.ndarray]:
    """Fit the coefficients of the columns, and the weight of each point: 1 on the fit, 0 far off.

    weight  to start from; all 1 when there is none

    >>> regress(np.ones((5, 1)), np.array([1.0, 1.0, 1.0, 1.0, 900.0]))[0].round(6)
    array([1.])
    """
    weight = np.ones(len(values)) if weight is None else weight
    for _ in range(rounds):
        numbers = weighted(columns, values, weight)
        before, weight = weight, _bisquare(values - columns @ numbers)
        if np.abs(weight - before).max() < 1e-3:
            break
    return numbers, weight


def weighted(columns: np.ndarray, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Solve weighted least squares by the normal equations: columns must be of similar size."""
    heavy = columns * weight[:, None]
    return np.linalg.lstsq(heavy.T @ columns, heavy.T @ values, rcond=None)[0]


def spread(residual: np.ndarray) -> float:
    """Estimate the standard deviation from the median of absolute values.

    >>> round(spread(np.array([-1.0, 1.0, -1.0, 1.0, 900.0])), 3)
    1.483
    """
    return max(float(1.4826 * np.median(np.abs(residual))), TINY)


def _bisquare(residual: np.ndarray) -> np.ndarray:
    """Weigh residuals by (1 − (r / 4.685·spread)²)², and 0 beyond."""
    return (1 - np.minimum(np.abs(residual) / (CUT * spread(residual)), 1) ** 2) ** 2
