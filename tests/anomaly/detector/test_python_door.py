"""`locant.anomaly.detect` does what `locant detect` does, and a saved detector stays readable."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common_detection import as_series, csv, ran, wave

import locant
from locant import anomaly
from locant.anomaly.detector import load, save

SAVED = Path(__file__).parent / "saved" / "sub_pca"  # written before files were renamed
PLAIN = ("--method", "harmonic", "--no-picture")


@pytest.fixture
def file(tmp_path):
    values = wave(300)
    values[200:204] += 3
    path = tmp_path / "mine.csv"
    path.write_text(csv(values))
    (tmp_path / "labels.json").write_text('[["2014-02-22T08:00", "2014-02-22T11:00"]]')
    return path


def without_seconds(folder):
    facts = json.loads((folder / "events.json").read_text())
    for trial in facts["self_test"]:
        del trial["seconds"]
    return facts


def test_the_door_writes_the_files_of_the_command(file, tmp_path):
    windows = tmp_path / "labels.json"
    ran(file, *PLAIN, "--windows", windows, "--baselines", "--out", tmp_path / "command")
    found = anomaly.detect(
        file, method="harmonic", windows=windows, baselines=True, out=tmp_path / "door"
    )
    assert sorted(path.name for path in found.files) == ["events.csv", "events.json", "scores.csv"]
    for name in ("scores.csv", "events.csv"):
        command = (tmp_path / "command" / name).read_bytes()
        assert (tmp_path / "door" / name).read_bytes() == command
    assert without_seconds(tmp_path / "door") == without_seconds(tmp_path / "command")
    assert found.evaluation["event recall"] == 1.0
    assert set(found.baseline_evaluation) == set(found.baseline_scores)


def test_a_series_and_settings_are_taken_too(file):
    series = anomaly.read_series(file)
    settings = anomaly.Settings(method="harmonic")
    found = anomaly.detect(series, settings, threshold=50)
    assert found.events == ()
    assert found.threshold.value == 50
    assert found.headline() == "no event in mine.csv"
    assert len(found.table()) == 300
    assert found.files == ()
    assert np.array_equal(found.scores, anomaly.detect(file, method="harmonic").scores)


def test_a_detector_is_saved_and_scores_by_its_folder_or_itself(file, tmp_path):
    first = anomaly.detect(file, method="harmonic", save=tmp_path / "kept")
    again = anomaly.detect(file, model=tmp_path / "kept")
    assert np.array_equal(again.scores, anomaly.detect(file, model=first.detector).scores)
    with pytest.raises(ValueError, match="exclude each other"):
        anomaly.detect(file, train=file, model=tmp_path / "kept")
    with pytest.raises(ValueError, match="the threshold alone can be changed"):
        anomaly.detect(file, model=tmp_path / "kept", season=24)


def test_a_stream_is_scored_line_by_line(file):
    scored = []
    found = anomaly.detect_stream(
        file.read_text().splitlines(keepends=True),
        method="harmonic",
        learn=150,
        on_row=lambda row, one: scored.append(one.score),
    )
    assert len(scored) == len(found.scores) == 150
    assert 48 <= int(np.argmax(scored)) <= 57


def test_one_encoding_may_be_a_word():
    assert anomaly.Settings(encodings="rope").encodings == ("rotary",)


def test_a_detector_that_was_saved_before_still_loads_and_scores(tmp_path):
    detector = load(SAVED)
    assert (detector.names, detector.candidate.method) == (("a", "b"), "sub-pca")
    start, step = detector.time_axis.start, np.timedelta64(2, "h")
    values = np.sin(2 * np.pi * np.arange(200) / 24)[:, None] * np.ones(2)
    values[100:104, 1] += 3
    series = as_series(values, start + step * np.arange(200))
    found = detector.detect(replace(series, names=("a", "b")))
    assert 95 <= int(found.scores.argmax()) <= 108
    assert detector.calibration.threshold.asked == 0.02
    again = load(save(detector, tmp_path / "again"))
    assert again.calibration.threshold == detector.calibration.threshold


def test_data_that_are_no_path_and_no_series_are_refused_with_a_sentence():
    for data in ([[1.0, 2.0]], None):
        with pytest.raises(ValueError, match="needs the path of a file, a pandas or polars frame"):
            locant.anomaly.detect(data)
