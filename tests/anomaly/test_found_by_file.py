"""A metric, a baseline, a detection method is one new file: being there is enough."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from locant import anomaly
from locant.anomaly import baselines, metrics
from locant.anomaly.detector import methods
from locant.anomaly.series.series import FileSummary, Series
from locant.lab.tasks.anomaly import Anomaly

BASELINE = """
import numpy as np

def score(lead, series):
    return np.abs(series).max(1)
"""
METRIC = """
from locant.anomaly.metrics.base import Metric

METRIC = Metric("share flagged", lambda case: float(case.flags.mean()))
"""
METHOD = """
import numpy as np
import torch
from locant.anomaly.detector.methods.base import Method

class ColumnMean(Method):
    name = "column-mean"
    min_rows = 2

    def fit(self, clean):
        self.mean = clean.values.mean(0)

    def predict(self, series, hidden):
        return np.tile(self.mean, (len(series.values), 1))

    def state(self):
        return {"mean": torch.from_numpy(self.mean)}

    def restore(self, state):
        self.mean = state["mean"].numpy()
"""


@pytest.fixture
def dropped(tmp_path, monkeypatch):
    """Drop a file into a package: a folder that is searched beside the package's own."""

    def drop(package, name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
        module = f"{package.__name__}.{name}"
        monkeypatch.setitem(sys.modules, module, None)
        del sys.modules[module]

    return drop


def series():
    values = np.sin(2 * np.pi * np.arange(300) / 24)[:, None]
    values = values + np.random.default_rng(0).normal(0, 0.1, (300, 1))
    values[200:204] += 3
    labels = np.zeros(300, bool)
    labels[200:204] = True
    facts = FileSummary("made", "made", 300, 1, None)
    return Series(values, ("x",), None, labels, ((200, 204),), facts, [])


def test_a_baseline_appears_beside_a_detection_and_in_the_study(dropped):
    dropped(baselines, "largest_value", BASELINE)
    assert "largest_value" in baselines.names()
    assert "largest_value" in Anomaly().baselines
    found = anomaly.detect(series(), method="harmonic", baselines=True)
    assert "largest-value" in found.baseline_scores
    assert "largest-value" in found.to_dict()["baselines"]


def test_a_metric_appears_in_the_evaluation(dropped):
    dropped(metrics, "share_flagged", METRIC)
    found = anomaly.detect(series(), method="harmonic")
    assert found.evaluation["share flagged"] == found.flags.mean()
    assert found.to_dict()["against_labels"]["share flagged"] == found.flags.mean()


def test_a_method_takes_part_in_the_self_test_and_can_be_asked_for(dropped, tmp_path):
    dropped(methods, "column_mean", METHOD)
    assert methods.names()[0] == "transformer"
    assert "column-mean" in methods.names()
    found = anomaly.detect(series(), steps=2, smooth=0)
    assert "column-mean" in {trial.method for trial in found.self_test}
    own = anomaly.detect(series(), method="column-mean", smooth=0, save=tmp_path / "kept")
    assert own.chosen.method == "column-mean"
    again = anomaly.detect(series(), model=tmp_path / "kept")
    assert np.allclose(again.expected, own.expected)
