"""Average precision against scikit-learn and against a count at each threshold."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from locant.anomaly.metrics.average_precision import average_precision

DRAW = np.random.default_rng(12)


def drawn(points, levels):
    labels = DRAW.random(points) < 0.3
    labels[0] = True
    return labels, DRAW.integers(0, levels, points) / 8 + labels * (levels / 32)


@pytest.mark.parametrize("levels", [2, 5, 10_000])
@pytest.mark.parametrize("points", [2, 7, 300])
def test_the_average_is_that_of_scikit_learn(points, levels):
    labels, scores = drawn(points, levels)
    assert average_precision(labels, scores) == pytest.approx(
        average_precision_score(labels, scores), abs=1e-12
    )


def test_each_threshold_adds_its_precision_times_the_recall_it_gains():
    labels, scores = drawn(40, 5)
    total, recall = 0.0, 0.0
    for threshold in sorted(set(scores.tolist()), reverse=True):
        flagged = scores >= threshold
        gained = labels[flagged].sum() / labels.sum() - recall
        total, recall = total + gained * labels[flagged].mean(), recall + gained
    assert average_precision(labels, scores) == pytest.approx(total, abs=1e-12)


def test_constant_scores_are_worth_the_share_of_anomalies():
    assert average_precision([0, 1, 0, 0, 1], [3.0] * 5) == pytest.approx(0.4)


def test_scores_that_rank_all_anomalies_first_are_worth_one():
    assert average_precision([0, 1, 0, 1], [0.2, 0.9, 0.1, np.inf]) == 1.0


def test_where_all_points_are_anomalous_any_score_is_worth_one():
    assert average_precision([1, 1, 1], [0.3, 0.1, 0.2]) == pytest.approx(1.0)


def test_without_an_anomaly_there_is_no_average():
    with pytest.raises(
        ValueError,
        match=r"^average_precision needs at least one point with label 1. All 2 labels are 0",
    ):
        average_precision([0, 0], [0.1, 0.2])
