"""Against labels: how well scores and events agree with what a person marked.

Never point-adjusted F1, which counts a whole stretch as found when one point of it is flagged: random scores do well by
it (Kim et al. 2022, arXiv:2109.05257), so that it cannot tell a detector from noise.
"""

from __future__ import annotations

from locant.anomaly.detector.detection import Detection
from locant.anomaly.metrics.affiliation import affiliation
from locant.anomaly.metrics.auc_roc import auc_roc
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.events import event_recall
from locant.anomaly.metrics.smoothing import random_scores
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.anomaly.metrics.vus_window import vus_window

NOT_ADJUSTED = "No point-adjusted F1: random scores do well by it (arXiv:2109.05257)."


def against_labels(found: Detection) -> dict[str, float]:
    """Scores by name; nothing when there are no labels, or nothing but one kind of them."""
    labels = found.series.labels
    if labels is None or not labels.any() or labels.all():
        return {}
    window = vus_window(found.series.values)
    out = {
        "VUS-PR": vus_pr(labels, found.scores, window=window),
        "average precision": average_precision(labels, found.scores),
        "AUC-ROC": auc_roc(labels, found.scores),
        "affiliation F1": affiliation(labels, found.flags).f1,
        "event recall": event_recall(found.series.windows or [], found.flags),
    }
    return {
        **out,
        "VUS-PR of random scores": vus_pr(labels, random_scores(len(labels), 0), window=window),
    }


def forgiven(found: Detection) -> str:
    """A sentence on the window of VUS-PR."""
    window = vus_window(found.series.values)
    return f"VUS-PR gives part of the credit up to {window // 2} rows from a label (window {window}, found as in TSB-AD)."
