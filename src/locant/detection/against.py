"""Against labels: how well scores and events agree with what a person marked.

Never point-adjusted F1, which counts a whole stretch as found when one point of it is flagged: random scores do well by
it (Kim et al. 2022, arXiv:2109.05257), so that it cannot tell a detector from noise.
"""

from __future__ import annotations

import numpy as np

from locant.detection.detection import Detection
from locant.detection.method import Flags, Floats
from locant.metrics.affiliation import affiliation
from locant.metrics.auc_roc import auc_roc
from locant.metrics.average_precision import average_precision
from locant.metrics.events import event_recall
from locant.metrics.vus_pr import vus_pr

NOT_ADJUSTED = "No point-adjusted F1: random scores do well by it (arXiv:2109.05257)."
BUFFER = 100  # points: the longest forgiveness of VUS-PR


def buffer(points: int) -> int:
    """The longest forgiveness for a series of so many points: short ones get less."""
    return min(BUFFER, points // 20)


def vus(labels: Flags, scores: Floats) -> float:
    """VUS-PR with the usual forgiveness."""
    return vus_pr(labels, scores, window=buffer(len(labels)))


def against_labels(found: Detection) -> dict[str, float]:
    """Scores by name; nothing when there are no labels, or nothing but one kind of them."""
    labels = found.series.labels
    if labels is None or not labels.any() or labels.all():
        return {}
    out = {
        "VUS-PR": vus(labels, found.scores),
        "average precision": average_precision(labels, found.scores),
        "AUC-ROC": auc_roc(labels, found.scores),
        "affiliation F1": affiliation(labels, found.flags).f1,
        "event recall": event_recall(found.series.windows or [], found.flags),
    }
    return {**out, "VUS-PR of random scores": vus(labels, np.random.default_rng(0).random(len(labels)))}
