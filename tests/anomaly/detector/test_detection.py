"""Every method finds the faults where they were put, and a detection says what was chosen."""

from __future__ import annotations

import numpy as np
import pytest
from common_detection import SEASON, as_series, wave

from locant.anomaly.detector import Settings, Stream, detect, load, methods, save
from locant.anomaly.detector.injected_faults import FAULTS, inject
from locant.anomaly.detector.season import find_season

QUICK = {"steps": 25, "smooth": 2}
SHORT = {"steps": 4, "smooth": 2}  # where it matters little what was learnt


def faulty(columns=1):
    values = wave(480, columns)
    values[400:406, columns - 1] += 2.5
    return values


@pytest.fixture(scope="module")
def every():
    """One detection by each method."""
    return {
        method: detect(as_series(faulty(2)), Settings(method, **QUICK))
        for method in methods.names()
    }


@pytest.mark.parametrize("method", methods.names())
def test_every_method_finds_the_fault_and_names_its_column(every, method):
    found = every[method]
    strongest = max(found.events, key=lambda event: event.score)
    assert 396 <= strongest.start <= strongest.peak < strongest.stop <= 410
    assert strongest.columns[0] == "x1"
    assert abs(strongest.value - strongest.expected) > 0.8
    assert found.scores.shape == (480,)
    assert found.by_column.shape == found.expected.shape == (480, 2)
    assert found.flags.sum() < 60


@pytest.mark.parametrize("method", methods.names())
def test_a_saved_detector_judges_as_before(every, method, tmp_path):
    detector = every[method].detector
    again = load(save(detector, tmp_path / "kept"))
    new = as_series(faulty(2)[100:])
    before, after = detector.detect(new), again.detect(new)
    assert np.array_equal(before.scores, after.scores)
    assert before.events == after.events
    assert (after.threshold, after.chosen, after.self_test) == (
        before.threshold,
        before.chosen,
        before.self_test,
    )
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [
        "detector.json",
        "detector.safetensors",
    ]


@pytest.mark.parametrize("method", methods.names())
def test_a_stream_finds_the_fault_row_by_row(every, method):
    stream = Stream(every[method].detector)
    values = wave(40, 2, seed=5)  # goes on in phase: 480 rows are whole seasons
    values[30:36, 1] += 2.5
    scores = np.array([stream.push(row, 480.0 + at).score for at, row in enumerate(values)])
    assert 30 <= scores.argmax() <= 37
    assert scores.max() > 1.5 * scores[:30].max()


def test_auto_takes_who_found_the_injected_faults_best():
    found = detect(as_series(faulty()), Settings(**SHORT))
    means = [trial.mean for trial in found.self_test]
    assert means == sorted(means, reverse=True)
    assert found.chosen.method == found.self_test[0].method
    assert {trial.method for trial in found.self_test} == set(methods.names())
    assert set(found.self_test[0].found) == set(FAULTS)
    assert found.chosen.method == "harmonic"  # on a plain season nothing is better
    assert found.chosen.season == SEASON


def test_a_detection_is_the_same_twice():
    one, two = (detect(as_series(faulty()), Settings("transformer", **SHORT)) for _ in range(2))
    assert np.array_equal(one.scores, two.scores)
    assert (one.events, one.threshold) == (two.events, two.threshold)


def test_of_several_encodings_the_self_test_takes_the_best():
    found = detect(as_series(faulty()), Settings("transformer", ("none", "rotary"), **SHORT))
    assert {trial.encoding for trial in found.self_test} == {"none", "rotary"}
    assert found.chosen.encoding == found.self_test[0].encoding
    assert found.self_test[0].mean > found.self_test[1].mean


def test_true_times_are_positions_where_sampling_is_irregular_and_the_encoding_takes_them():
    draw = np.random.default_rng(0)
    times = np.cumsum(draw.exponential(1.0, 300))
    values = np.sin(2 * np.pi * times / 20)[:, None] + draw.normal(0, 0.05, (300, 1))
    series = as_series(values, times, irregular=0.9)
    real = detect(series, Settings("transformer", **SHORT))
    rows = detect(series, Settings("transformer", ("learned",), **SHORT))
    assert (real.chosen.real_times, rows.chosen.real_times) == (True, False)
    assert "true times" in " ".join(real.chosen.why)
    assert not np.array_equal(
        real.scores, detect(as_series(values), Settings("transformer", **SHORT)).scores
    )


def test_what_is_learnt_from_another_series_judges_this_one():
    found = detect(
        as_series(faulty()), Settings("sub-pca", smooth=2), train=as_series(wave(480, seed=3))
    )
    assert 400 <= max(found.events, key=lambda event: event.score).peak < 406
    assert found.threshold.measured is not None


def test_only_the_clean_part_is_learnt_from():
    values = wave(480)
    values[300:] *= 4
    found = detect(as_series(values), Settings("sub-pca", clean=0.5, smooth=2))
    assert found.scores[310:].mean() > 2 * found.scores[:240].mean()


@pytest.mark.parametrize(("asked", "rate"), [("5%", 0.05), ("1%", 0.01)])
def test_a_rate_of_false_alarms_is_about_what_is_measured(asked, rate):
    found = detect(as_series(wave(2000)), Settings("harmonic", threshold=asked, smooth=0))
    assert found.threshold.measured == pytest.approx(rate, abs=0.02)
    assert (found.scores > found.threshold.value).mean() == pytest.approx(rate, abs=0.02)


def test_a_clean_series_gives_next_to_no_alarm():
    found = detect(as_series(wave(1500)), Settings("harmonic"))
    assert found.flags.mean() < 0.01


def test_a_threshold_may_be_a_score():
    found = detect(as_series(faulty()), Settings("harmonic", threshold=3.5, smooth=0))
    assert found.threshold.value == 3.5
    assert found.threshold.origin == "given"


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_are_where_they_are_said_to_be_and_the_same_for_a_seed(kind):
    values = wave(400, 2)
    out, where = inject(values, kind, 1)
    assert where.any()
    assert (np.abs(out - values).max(1) > 0.1)[where].all()
    assert np.abs(out - values)[~where].max() <= 0.1
    assert np.array_equal(out, inject(values, kind, 1)[0])


def test_a_season_is_found_under_trend_and_noise_and_none_in_noise():
    time = np.arange(600)[:, None]
    assert find_season(wave(600, noise=0.5) + 0.01 * time) == SEASON
    assert find_season(np.random.default_rng(0).normal(size=(600, 1))) is None
    assert find_season(np.cumsum(np.random.default_rng(0).normal(size=(600, 1)), axis=0)) is None


@pytest.mark.parametrize("huge", [1e6, 9.96921e36, -1.7e155, 1.7e308])
def test_one_huge_value_hides_nothing_else(huge):
    values = faulty()
    values[50] = huge
    found = detect(as_series(values), Settings("sub-pca", smooth=0))
    assert any(396 <= event.start < 410 for event in found.events)
    assert any(event.start == 50 for event in found.events)


def test_missing_values_of_a_stream_are_no_alarm(every):
    stream = Stream(every["sub-pca"].detector)
    scored = stream.push(np.array([np.nan, np.nan]), 480.0)
    assert scored.residual.tolist() == [0.0, 0.0]


def test_after_a_gap_a_stream_gathers_rows_before_it_judges(every):
    stream, least = Stream(every["sub-pca"].detector), every["sub-pca"].detector.method.min_rows
    scored = [stream.push(row, 9000.5 + at) for at, row in enumerate(wave(least + 10, 2, seed=5))]
    assert {one.score for one in scored[: least - 1]} == {0.0}
    assert min(one.score for one in scored[least:]) > 0


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "values",
    [
        wave(200) * 1e300,
        np.sign(wave(200)) * 1.7e308,
        wave(200) * 1e-300,
        1e9 + wave(200) * 1e-6,
        (wave(200) > 0).astype(float),
        np.eye(200)[:, :2],
    ],
    ids=[
        "huge",
        "as large as can be",
        "tiny",
        "far from zero",
        "two values",
        "constant but for one",
    ],
)
def test_numbers_of_any_size_have_finite_scores(values):
    found = detect(as_series(values), Settings("sub-pca"))
    assert np.isfinite(found.scores).all()
    assert np.isfinite(found.expected).all()


def test_a_hundred_rows_are_enough_and_many_columns_are_bearable():
    assert detect(as_series(wave(100)), Settings(**SHORT)).scores.shape == (100,)
    assert detect(as_series(wave(300, 60)), Settings("sub-pca")).by_column.shape == (300, 60)
