"""The rate of false alarms that is told is the rate on data that nobody has learnt from."""

from __future__ import annotations

import json

import numpy as np
import pytest
from common_detection import as_series, csv, ran, wave

from locant.anomaly.detector import Settings, detect, load, save

ROWS, NOISE = 3000, 0.3


def clean(seed, rows=ROWS):
    """A season with noise and nothing wrong in it."""
    return as_series(wave(rows, noise=NOISE, seed=seed))


@pytest.mark.parametrize("learnt", ["from the series", "from a clean one"])
@pytest.mark.parametrize(
    ("method", "smooth"), [("sub-pca", 0), ("nearest-window", 0), ("sub-pca", 2)]
)
@pytest.mark.parametrize("asked", ["0.5%", "2%"])
def test_the_told_rate_is_within_a_factor_of_two_of_that_on_fresh_data(
    method, smooth, asked, learnt
):
    settings = Settings(method, threshold=asked, smooth=smooth)
    train = None if learnt == "from the series" else clean(1)
    found = detect(clean(1 if train is None else 2), settings, train=train)
    true = (found.detector.detect(clean(9, 4 * ROWS)).scores > found.threshold.value).mean()
    assert true / 2 < found.threshold.measured < 2 * true


@pytest.mark.parametrize("asked", ["clean", "0.5%", "2%"])
def test_the_told_rate_counts_the_tail_of_heavy_tailed_noise(asked):
    draws = [
        wave(rows, noise=0.0) + NOISE * np.random.default_rng(rows).standard_t(3, (rows, 1))
        for rows in (ROWS, 4 * ROWS)
    ]
    found = detect(as_series(draws[0]), Settings("sub-pca", threshold=asked, smooth=0))
    true = (found.detector.detect(as_series(draws[1])).scores > found.threshold.value).mean()
    assert true / 2 < found.threshold.measured < 2 * true


def test_high_scores_of_held_out_rows_count_as_false_alarms():
    values = wave(ROWS, noise=NOISE)
    values[::20] += 4 * np.sign(
        values[::20]
    )  # one row of twenty is odd, in the rows that are called clean too
    found = detect(as_series(values), Settings("harmonic", smooth=0))
    assert found.threshold.measured > 0.04
    assert "Anomalies among these rows count as false alarms." in found.threshold.sentence


def test_rows_that_are_known_to_be_clean_give_the_rate_that_was_asked_for():
    found = detect(clean(2), Settings("sub-pca", threshold="2%", smooth=0), train=clean(1))
    assert found.threshold.measured == pytest.approx(0.02, abs=0.005)
    assert found.threshold.known_clean
    assert "count as false alarms" not in found.threshold.sentence


def test_what_was_asked_and_what_was_measured_are_told_together(tmp_path):
    (tmp_path / "mine.csv").write_text(csv(wave(ROWS, noise=NOISE)))
    asked = (
        "--method",
        "sub-pca",
        "--smooth",
        "0",
        "--threshold",
        "0.5%",
        "--no-picture",
        "--out",
        tmp_path / "out",
    )
    done = ran(tmp_path / "mine.csv", *asked)
    told = json.loads((tmp_path / "out" / "events.json").read_text())["threshold"]
    assert (told["asked"], told["rows"]) == (0.005, 1800)
    measured = f"measured {100 * told['measured']:.2g} % on 1,800 held-out rows."
    sentence = f"False alarms: asked 0.5 %, {measured}"
    assert sentence in told["sentence"]
    assert sentence in " ".join(done.stdout.split())


def test_a_rate_that_few_rows_cannot_show_is_refused_before_anything_is_learned():
    with pytest.raises(ValueError, match=r"0.5 % cannot be set from 240 held-out rows"):
        detect(clean(1, 400), Settings("harmonic", threshold="0.5%"))


def test_where_smoothing_leaves_few_independent_scores_it_is_said():
    found = detect(clean(1, 400), Settings("harmonic", smooth=20))
    stretches, rows = found.threshold.scales
    assert (stretches.measured, rows.width) == (None, 0)
    assert "stretches not measured (too few independent scores)" in found.threshold.sentence


def test_a_kept_detector_measures_another_threshold_on_the_same_rows(tmp_path):
    found = detect(clean(1), Settings("sub-pca", smooth=0))
    again = load(save(found.detector, tmp_path / "kept")).with_threshold("2%").calibration.threshold
    assert again == detect(clean(1), Settings("sub-pca", threshold="2%", smooth=0)).threshold
    assert again.rows == 1800
