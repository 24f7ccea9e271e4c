"""Average precision: the precision at each threshold, weighted by the recall it adds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from locant.anomaly.metrics._thresholds import thresholds
from locant.anomaly.metrics._vectors import labels_and_scores
from locant.anomaly.metrics.base import Metric


def average_precision(labels: ArrayLike, scores: ArrayLike) -> float:
    """Compute AP = Σ_k (R_k − R_(k−1))·P_k over the distinct scores from the highest down.

    As in scikit-learn: steps, no straight lines between them, which would flatter (Davis and
    Goadrich 2006). Equal scores are flagged together, so constant scores give the share of
    anomalous points, which is also the level of chance.

    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    >>> average_precision([0, 0, 0, 1], [7, 7, 7, 7])
    0.25
    """
    true, values = labels_and_scores("average_precision", labels, scores)
    every = thresholds(values)
    hits = every.total(true.astype(float))
    recall, precision = hits / hits[-1], hits / every.flagged
    return float(np.diff(recall, prepend=0.0) @ precision)


METRIC = Metric(
    "average precision", lambda case: average_precision(case.labels, case.scores), order=2
)
