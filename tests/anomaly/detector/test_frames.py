"""Frames and arrays are taken as files are, and scikit-learn's words work."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from common_detection import csv, wave
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from locant.anomaly import SeriesDetector, detect

START, HOUR = np.datetime64("2014-02-14T00", "ns"), np.timedelta64(1, "h")


def faulty():
    values = wave(400, 2)
    values[300:304, 1] += 3
    return values.round(6)


def data(kind):
    values, times = faulty(), START + np.arange(400) * HOUR
    frame = pd.DataFrame(values, columns=["x0", "x1"])
    if kind == "pandas with an index of dates":
        return frame.set_index(pd.DatetimeIndex(times, name="time"))
    frame.insert(0, "time", times)
    if kind == "pandas":
        return frame
    return pl.DataFrame({"time": times, "x0": values[:, 0], "x1": values[:, 1]})


@pytest.mark.parametrize("kind", ["pandas", "pandas with an index of dates", "polars"])
def test_a_frame_gives_the_answers_of_its_file(kind, tmp_path):
    (tmp_path / "mine.csv").write_text(csv(faulty(), ["x0", "x1"]))
    from_file = detect(tmp_path / "mine.csv", method="harmonic")
    found = detect(data(kind), method="harmonic")
    assert np.array_equal(found.scores, from_file.scores)
    assert found.events == from_file.events
    frame = found.events_frame()
    assert frame["first_row"].to_list() == [300]
    assert frame["columns"].to_list() == ["x1"]
    assert frame["start"].to_list() == ["2014-02-26T12:00:00"]


def test_an_array_is_taken_and_missing_numbers_are_no_events():
    values = faulty()
    values[100:110] = np.nan
    found = detect(values, method="harmonic")
    assert [(event.start, event.stop) for event in found.events] == [(300, 304)]
    assert found.series.names == ("x0", "x1")
    assert detect(values[:, 1], method="harmonic").series.names == ("x0",)


def test_unsorted_rows_labels_and_a_choice_of_columns(tmp_path):
    frame = data("polars").with_columns(bad=pl.Series([300 <= row < 304 for row in range(400)]))
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=0)
    found = detect(shuffled, columns="x1", labels="bad", method="harmonic")
    assert found.series.names == ("x1",)
    assert found.evaluation["event recall"] == 1.0
    assert any("sorted by time" in note for note in found.series.repairs)


@pytest.mark.parametrize(
    ("bad", "asked", "why"),
    [
        (np.zeros((3, 2, 2)), {}, "3 dimensions"),
        (np.array(["a", "b"]), {}, "of type"),
        (pl.DataFrame({"x": ["a", "b"]}), {}, "no column of numbers"),
        (pl.DataFrame({"x": [1.0, 2.0]}), {"time": "when"}, "no column 'when'"),
        (pl.DataFrame({"when": ["a", "b"], "x": [1, 2]}), {"time": "when"}, "neither dates nor"),
        (np.full((200, 1), np.nan), {}, "no number is in x0"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_a_sentence(bad, asked, why):
    with pytest.raises(ValueError, match=why):
        detect(bad, **asked)


def test_the_estimator_answers_as_scikit_learn_does():
    model = SeriesDetector(method="harmonic").fit(wave(600, 2))
    new = faulty()
    assert np.flatnonzero(model.predict(new) == -1).tolist() == [300, 301, 302, 303]
    decision = model.decision_function(new)
    assert decision.argmin() in range(298, 306)
    assert np.array_equal(decision < 0, model.detect(new).scores > -model.offset_)
    assert np.allclose(model.score_samples(new), decision + model.offset_)
    assert set(np.flatnonzero(model.fit_predict(new) == -1)) == {300, 301, 302, 303}
    with pytest.raises(ValueError, match="call fit"):
        SeriesDetector().predict(new)


def test_the_estimator_is_cloned_and_stands_in_a_pipeline():
    model = clone(SeriesDetector(method="harmonic", threshold=4.0))
    assert model.get_params()["threshold"] == 4.0
    model.set_params(threshold="clean")
    with pytest.raises(ValueError, match="no option steeps"):
        model.set_params(steeps=3)
    pipeline = make_pipeline(StandardScaler(), model).fit(wave(600, 2))
    assert np.flatnonzero(pipeline.predict(faulty()) == -1).tolist() == [300, 301, 302, 303]
