"""The area under the ROC curve: how often an anomalous point outranks a normal one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from locant.anomaly.metrics._vectors import labels_and_scores
from locant.anomaly.metrics.base import Metric


def auc_roc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Compute P(score of an anomalous point > score of a normal one), ties counted half.

    Chance is .5. With the ranks r of all scores, equal scores sharing their mean rank, a anomalous
    and n normal points: AUC = (Σ r over anomalous points − a(a+1)/2) / (a·n).
    Mann and Whitney 1947.

    >>> auc_roc([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    >>> auc_roc([0, 1, 0, 1], [3, 3, 3, 3])
    0.5
    """
    true, values = labels_and_scores("auc_roc", labels, scores)
    anomalous, normal = int(true.sum()), int((~true).sum())
    if normal == 0:
        raise ValueError(
            f"auc_roc needs points of both classes. All {len(true)} labels are 1.\n"
            "  Take a series that also holds normal points."
        )
    _, group, size = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(size) - (size - 1) / 2  # the mean rank of each group of equal scores, from 1
    return float((rank[group][true].sum() - anomalous * (anomalous + 1) / 2) / (anomalous * normal))


METRIC = Metric("AUC-ROC", lambda case: auc_roc(case.labels, case.scores), order=3)
