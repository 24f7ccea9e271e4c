"""Cut series into windows, and average windows back over the series."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

BLOCK = 1024  # windows held at once: memory does not grow with the length of the series


def cut(whole: np.ndarray, window: int) -> np.ndarray:
    """Return all windows of a series, (N, F, window), without copying it.

    >>> cut(np.array([[1], [2], [3]]), 2).tolist()
    [[[1, 2]], [[2, 3]]]
    """
    return sliding_window_view(whole, window, axis=0)


def around(whole: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the window around each point, (n, F, window), and the point's index in it, (n,).

    The first and last points share the window of the nearest point with neighbors on both sides.

    >>> around(np.array([[1], [2], [3], [4]]), 3)[1].tolist()
    [0, 1, 1, 2]
    """
    n = len(whole)
    first = np.clip(np.arange(n) - window // 2, 0, n - window)
    return cut(whole, window)[first], np.arange(n) - first


def overlaid(
    lead: np.ndarray, series: np.ndarray, window: int, expect: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Predict each point of the series, (T, F): the mean over all windows that contain it.

    expect  predicts windows, (N, F, window); the first windows begin in the lead

    >>> overlaid(np.zeros((3, 1)), np.array([[1.0], [5.0]]), 2, lambda rows: rows + 1).tolist()
    [[2.0], [6.0]]
    """
    whole = np.concatenate([lead[len(lead) - window + 1 :], series])
    total, count = np.zeros(whole.shape), np.zeros((len(whole), 1))
    rows = cut(whole, window)
    for start in range(0, len(rows), BLOCK):
        expected = expect(rows[start : start + BLOCK])
        stop = start + len(expected)
        for index in range(window):
            total[start + index : stop + index] += expected[:, :, index]
            count[start + index : stop + index] += 1
    return (total / count)[window - 1 :]
