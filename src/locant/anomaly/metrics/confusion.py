"""Flags against labels, point by point."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from locant.anomaly.metrics._vectors import labels_and_flags


class Confusion(NamedTuple):
    """Shares of points, each in [0, 1]; 0.0 where there is nothing to take a share of."""

    precision: float  # of the flagged points, how many are anomalous
    recall: float  # of the anomalous points, how many are flagged
    f1: float  # the harmonic mean of both
    false_alarms: float  # of the normal points, how many are flagged


def confusion(labels: ArrayLike, predicted: ArrayLike) -> Confusion:
    """Count each point once, whatever event it belongs to.

    >>> confusion([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
    Confusion(precision=0.5, recall=0.5, f1=0.5, false_alarms=0.25)
    """
    true, flagged = labels_and_flags("confusion", labels, predicted)
    hits, alarms, anomalous = int((true & flagged).sum()), int(flagged.sum()), int(true.sum())
    return Confusion(
        precision=_share(hits, alarms),
        recall=_share(hits, anomalous),
        f1=_share(2 * hits, alarms + anomalous),
        false_alarms=_share(alarms - hits, len(true) - anomalous),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
