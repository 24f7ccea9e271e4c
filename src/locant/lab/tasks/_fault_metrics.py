"""Measure how well scores find the faults of series: by rank, by range, by kind, and at a threshold
from clean data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from locant.anomaly.metrics.affiliation import affiliation
from locant.anomaly.metrics.auc_roc import auc_roc
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.confusion import confusion
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.lab.tasks._seasonal_series import CONTEXTUAL, KINDS
from locant.lab.tasks.base import Scores

# VUS-PR's window, in points: as long as a long fault. Faults are many, and a buffer of a season
# would cover them all.
VUS_WINDOW = 8
CLEAN_SHARE = 0.999  # the threshold: this share of clean scores is below it


class ScoredSeries(NamedTuple):
    """The scores of one series.

    lead_scores  of the clean lead-in
    scores       (tested,), of the points after it
    kinds        (tested,), their kind of fault; 0 is none
    """

    lead_scores: np.ndarray
    scores: np.ndarray
    kinds: np.ndarray


def fault_metrics(series: list[ScoredSeries]) -> Scores:
    """Compute rank and range metrics as means over series, and threshold metrics over all their
    points."""
    ranks = [_rank_metrics(one) for one in series]
    means = {name: float(np.mean([rank[name] for rank in ranks])) for name in ranks[0]}
    clean_scores = np.concatenate([one.lead_scores for one in series])
    threshold = float(np.quantile(clean_scores, CLEAN_SHARE))
    scores = np.concatenate([one.scores for one in series])
    kinds = np.concatenate([one.kinds for one in series])
    flagged = scores > threshold
    counts = confusion(kinds > 0, flagged)
    recall_by_kind = {
        f"recall, {kind}": float(flagged[kinds == number].mean()) for kind, number in KINDS.items()
    }
    affiliations = [affiliation(one.kinds > 0, one.scores > threshold).f1 for one in series]
    return {
        **means,
        "F1": counts.f1,
        "precision": counts.precision,
        "recall": counts.recall,
        "false alarms": counts.false_alarms,
        "affiliation F1": float(np.mean(affiliations)),
        **recall_by_kind,
    }


def mean_average_precision(series: list[ScoredSeries]) -> float:
    """Take the mean of average precision over series."""
    return float(np.mean([average_precision(one.kinds > 0, one.scores) for one in series]))


def _rank_metrics(one: ScoredSeries) -> Scores:
    """Compute the metrics of one series that need no threshold."""
    faulty = one.kinds > 0
    either = (one.kinds == 0) | (one.kinds == CONTEXTUAL)  # contextual faults against normal points
    contextual = one.kinds[either] == CONTEXTUAL
    return {
        "average precision": average_precision(faulty, one.scores),
        "AUC": auc_roc(faulty, one.scores),
        "VUS-PR": vus_pr(faulty, one.scores, window=VUS_WINDOW),
        "contextual AUC": auc_roc(contextual, one.scores[either]),
        "contextual AP": average_precision(contextual, one.scores[either]),
    }
