"""Precision, recall, F1 and false alarms against scikit-learn and at their edges."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from locant.anomaly.metrics.confusion import confusion

DRAW = np.random.default_rng(15)


@pytest.mark.parametrize(("anomalous", "flagged"), [(0.1, 0.1), (0.5, 0.2), (0.2, 0.9)])
def test_the_shares_are_those_of_scikit_learn(anomalous, flagged):
    labels, predicted = DRAW.random(200) < anomalous, DRAW.random(200) < flagged
    want = precision_recall_fscore_support(labels, predicted, average="binary")[:3]
    (normal, alarms), _ = confusion_matrix(labels, predicted)
    assert confusion(labels, predicted) == pytest.approx((*want, alarms / (normal + alarms)))


@pytest.mark.parametrize(
    ("labels", "predicted", "want"),
    [
        ([0, 0, 1], [0, 0, 0], (0.0, 0.0, 0.0, 0.0)),  # nothing flagged
        ([0, 0, 0, 0], [0, 1, 0, 0], (0.0, 0.0, 0.0, 0.25)),  # nothing anomalous
        ([1, 1], [1, 1], (1.0, 1.0, 1.0, 0.0)),  # nothing normal
        ([0, 0], [0, 0], (0.0, 0.0, 0.0, 0.0)),  # nothing at all
        ([1, 0, 0], [0, 1, 1], (0.0, 0.0, 0.0, 1.0)),  # all wrong
    ],
)
def test_a_share_of_nothing_is_zero(labels, predicted, want):
    assert confusion(labels, predicted) == want


def test_one_flag_in_a_long_event_finds_one_point_only():
    assert confusion([1] * 10 + [0] * 10, [1] + [0] * 19) == pytest.approx(
        (1.0, 0.1, 2 * 0.1 / 1.1, 0.0)
    )


def test_the_fields_have_names():
    result = confusion([1, 1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 1, 1, 0, 0])
    named = (result.precision, result.recall, result.f1, result.false_alarms)
    assert named == pytest.approx((1 / 3, 1 / 4, 2 / 7, 1 / 2))
