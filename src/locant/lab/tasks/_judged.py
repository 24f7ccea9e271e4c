"""How well scores find the faults of series: by rank, by range, by kind, and at a threshold taken from clean data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from locant.anomaly.metrics.affiliation import affiliation
from locant.anomaly.metrics.auc_roc import auc_roc
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.confusion import confusion
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.lab.tasks._series import CONTEXTUAL, KINDS
from locant.lab.tasks.base import Scores

BUFFER = 8  # VUS-PR's window, in points: as long as a long fault. Faults are many: buffers of a season would cover them all
CLEAN_SHARE = 0.999  # the threshold: this share of clean scores lies below it


class Judged(NamedTuple):
    """One series: scores on its clean lead-in and on the part with faults, and the kind of fault of each point (0: none)."""

    lead: np.ndarray
    scores: np.ndarray
    kinds: np.ndarray


def judge(series: list[Judged]) -> Scores:
    """Ranks and ranges as means over series; what hangs on the threshold over all their points."""
    parts = [_ranks(one) for one in series]
    means = {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}
    threshold = float(np.quantile(np.concatenate([one.lead for one in series]), CLEAN_SHARE))
    scores, kinds = (
        np.concatenate([getattr(one, name) for one in series]) for name in ("scores", "kinds")
    )
    flagged = scores > threshold
    at = confusion(kinds > 0, flagged)
    by_kind = {
        f"recall, {kind}": float(flagged[kinds == number].mean()) for kind, number in KINDS.items()
    }
    near = float(np.mean([affiliation(one.kinds > 0, one.scores > threshold).f1 for one in series]))
    told = {
        "F1": at.f1,
        "precision": at.precision,
        "recall": at.recall,
        "false alarms": at.false_alarms,
    }
    return {**means, **told, "affiliation F1": near, **by_kind}


def average_precision_of(series: list[Judged]) -> float:
    """The mean over series."""
    return float(np.mean([average_precision(one.kinds > 0, one.scores) for one in series]))


def _ranks(one: Judged) -> Scores:
    faulty = one.kinds > 0
    either = (one.kinds == 0) | (one.kinds == CONTEXTUAL)  # contextual faults against normal points
    contextual = one.kinds[either] == CONTEXTUAL
    return {
        "average precision": average_precision(faulty, one.scores),
        "AUC": auc_roc(faulty, one.scores),
        "VUS-PR": vus_pr(faulty, one.scores, window=BUFFER),
        "contextual AUC": auc_roc(contextual, one.scores[either]),
        "contextual AP": average_precision(contextual, one.scores[either]),
    }
