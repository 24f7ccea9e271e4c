"""The area under the ROC curve against scikit-learn and against counting all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from locant.anomaly.metrics.auc_roc import auc_roc

DRAW = np.random.default_rng(11)


def drawn(points, levels):
    """Labels with both classes, and scores with so many levels that ties are rare or common."""
    labels = DRAW.random(points) < 0.3
    labels[:2] = [False, True]
    return labels, DRAW.integers(0, levels, points) / 8 + labels * (levels / 32)


@pytest.mark.parametrize("levels", [2, 5, 10_000])
@pytest.mark.parametrize("points", [2, 7, 300])
def test_the_area_is_that_of_scikit_learn(points, levels):
    labels, scores = drawn(points, levels)
    assert auc_roc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_the_area_counts_the_pairs_that_are_in_order_and_half_of_the_ties():
    labels, scores = drawn(60, 4)
    gaps = scores[labels][:, None] - scores[~labels][None, :]
    assert (gaps == 0).any()
    assert auc_roc(labels, scores) == pytest.approx(
        ((gaps > 0) + 0.5 * (gaps == 0)).mean(), abs=1e-12
    )


def test_constant_scores_are_worth_one_half():
    assert auc_roc([0, 0, 1, 0, 1], [7.0] * 5) == 0.5


def test_the_opposite_scores_have_the_opposite_area():
    labels, scores = drawn(80, 6)
    assert auc_roc(labels, scores) != 0.5
    assert auc_roc(labels, -scores) == pytest.approx(1 - auc_roc(labels, scores))


def test_only_the_order_of_scores_matters():
    labels, scores = drawn(80, 6)
    assert auc_roc(labels, np.exp(3 * scores)) == auc_roc(labels, scores)


def test_an_infinite_score_outranks_all_others():
    assert auc_roc([0, 1, 0, 1], [1e300, np.inf, -np.inf, np.inf]) == 1.0


@pytest.mark.parametrize(
    ("labels", "word"), [([0, 0, 0], "labels are 0"), ([1, 1, 1], "labels are 1")]
)
def test_a_single_class_has_no_area(labels, word):
    with pytest.raises(ValueError, match=f"^auc_roc needs .*All 3 {word}.\n  Take"):
        auc_roc(labels, [0.1, 0.2, 0.3])
