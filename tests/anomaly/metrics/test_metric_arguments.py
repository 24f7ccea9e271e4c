"""What every metric takes and refuses, in one voice."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import locant.anomaly.metrics
from locant.anomaly.metrics.affiliation import affiliation
from locant.anomaly.metrics.auc_roc import auc_roc
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.confusion import confusion
from locant.anomaly.metrics.events import event_recall, events
from locant.anomaly.metrics.vus_pr import vus_pr

OF_SCORES = {
    "auc_roc": auc_roc,
    "average_precision": average_precision,
    "vus_pr": partial(vus_pr, window=2),
}
OF_FLAGS = {"affiliation": affiliation, "confusion": confusion}
BOTH = OF_SCORES | OF_FLAGS
OF_ONE = {"events": events, "event_recall": partial(event_recall, [(0, 1)])}


@pytest.mark.parametrize("name", BOTH)
def test_lists_and_arrays_of_any_number_type_give_the_same(name):
    labels, other = [0, 1, 1, 0, 1], [1, 1, 0, 0, 1]
    want = BOTH[name](labels, other)
    for kind in (bool, np.int8, np.uint8, np.float32, np.float64):
        assert BOTH[name](np.array(labels, kind), np.array(other, kind)) == want
    assert BOTH[name](tuple(labels), np.repeat(other, 2)[::2]) == want


@pytest.mark.parametrize("name", BOTH)
def test_no_argument_is_changed(name):
    labels, other = np.array([0.0, 1.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0])
    BOTH[name](labels, other)
    assert labels.tolist() == [0, 1, 1, 0]
    assert other.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("name", OF_SCORES)
def test_nan_has_no_rank(name):
    with pytest.raises(
        ValueError,
        match=f"^{name} cannot rank NaN, and 2 of 4 scores are NaN, the first at index 1",
    ):
        OF_SCORES[name]([0, 1, 0, 1], [0.1, np.nan, 0.2, np.nan])


@pytest.mark.parametrize("name", OF_SCORES)
def test_each_label_has_its_score(name):
    with pytest.raises(
        ValueError, match=f"^{name} needs one of scores for each label. Got 3 labels and 2 scores"
    ):
        OF_SCORES[name]([0, 1, 0], [0.1, 0.2])


@pytest.mark.parametrize("name", OF_FLAGS)
def test_each_label_has_its_flag(name):
    with pytest.raises(
        ValueError,
        match=f"^{name} needs one of predicted for each label. Got 2 labels and 3 predicted",
    ):
        OF_FLAGS[name]([0, 1], [0, 1, 1])


@pytest.mark.parametrize("wrong", [2, -1, 0.5, np.nan])
@pytest.mark.parametrize("name", BOTH | OF_ONE)
def test_labels_and_flags_are_0_or_1(name, wrong):
    with pytest.raises(
        ValueError, match=rf"^{name} needs 0 or 1 .*Got {wrong}.* at index 2 instead"
    ):
        (BOTH | OF_ONE)[name]([0, 1, wrong], *([[0, 1, 1]] if name in BOTH else []))


@pytest.mark.parametrize("name", OF_FLAGS)
def test_scores_are_no_flags(name):
    with pytest.raises(
        ValueError, match=f"^{name} needs 0 or 1 .* of predicted. Got 0.3 at index 1 instead"
    ):
        OF_FLAGS[name]([0, 1], [0.0, 0.3])


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([[0, 1], [1, 0]], r"an array of shape \(2, 2\)"),
        ([[0, 1], [1]], "rows of unequal or no length"),
        (1, "a single value"),
        ([], "an empty row of"),
        (["a", "b"], "values of type <U1"),
        ([0, None], "values of type object"),
        ([0, 1j], "values of type complex128"),
    ],
)
@pytest.mark.parametrize("name", BOTH)
def test_what_is_no_row_of_numbers_is_named(name, values, word):
    for arguments in ((values, [0, 1]), ([0, 1], values)):
        with pytest.raises(ValueError, match=f"^{name} needs .*Got {word}.* instead"):
            BOTH[name](*arguments)


def test_metrics_need_neither_torch_nor_scikit_learn():
    files = sorted(Path(locant.anomaly.metrics.__file__).parent.glob("[a-z]*.py"))
    assert len(files) >= 6
    imports = "; ".join(f"import locant.anomaly.metrics.{file.stem}" for file in files)
    code = f"import sys; {imports}; assert not {{'torch', 'sklearn', 'scipy'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
