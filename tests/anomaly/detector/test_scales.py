"""Spikes and stretches: both are found, each by its own threshold, and no longer than it was."""

from __future__ import annotations

import numpy as np
import pytest
from common_detection import as_series, wave

from locant.anomaly.detector import Settings, detect
from locant.anomaly.detector.event_finder import least_typical, score_residuals
from locant.anomaly.detector.threshold import ScaleThreshold, Threshold

ROWS = 8760


def year(seed, rows=ROWS):
    """An hourly year: days and weeks in noise of one σ."""
    draw, time = np.random.default_rng(seed), np.arange(rows)
    days, weeks = np.sin(2 * np.pi * time / 24), np.sin(2 * np.pi * time / 168)
    return 5 * days + 2 * weeks + draw.normal(0, 1, rows)


@pytest.mark.parametrize("seed", range(3))
def test_all_spikes_are_found_each_as_one_row(seed):
    values, draw = year(seed), np.random.default_rng(100 + seed)
    spikes = np.sort(draw.choice(np.arange(50, ROWS - 50), 20, replace=False))
    values[spikes] += 10 * draw.choice([-1, 1], 20)
    found = detect(as_series(values[:, None]), Settings("harmonic"))
    assert [event.peak for event in found.events] == spikes.tolist()
    assert {event.stop - event.start for event in found.events} == {1}


@pytest.mark.parametrize("seed", range(3))
def test_a_stretch_of_weak_faults_is_one_event_about_as_long_as_it_was(seed):
    values = year(seed, 4000)
    values[2500:2600] += 2  # no row of it stands out by itself
    found = detect(as_series(values[:, None]), Settings("harmonic"))
    (event,) = found.events
    assert 2480 <= event.start <= 2520
    assert 2580 <= event.stop <= 2620


@pytest.mark.parametrize("seed", range(4))
def test_a_clean_year_has_next_to_no_event(seed):
    found = detect(as_series(year(seed)[:, None]), Settings("harmonic"))
    assert len(found.events) <= 1
    stretches, singles = found.threshold.scales
    assert singles.measured <= 0.0005
    assert stretches.measured <= 0.05


def test_a_spike_is_scored_as_far_above_the_threshold_as_it_is_above_its_own():
    scales = (ScaleThreshold(10, 2.0, 1.0, 0.0, 99), ScaleThreshold(0, 5.0, 1.0, 0.0, 99))
    threshold = Threshold(2.0, "given", 0.0, None, 99, 99, True, scales)
    residual = np.ones((200, 1))
    residual[100] = 15.0
    scored = score_residuals(residual, threshold)
    assert scored.by_column[100, 0] == pytest.approx(6.0)  # three times either threshold
    assert scored.by_column[99, 0] < 6.0
    assert scored.smoothed.max() < 2.0  # a spike is no stretch
    assert scored.residual[100, 0] == 15.0


def test_the_cause_of_a_run_is_found_where_it_is():
    draw = np.random.default_rng(0)
    energy = draw.normal(size=900) ** 2
    energy[300:340] *= 9
    start, stop = least_typical(energy)
    assert 295 <= start <= 305
    assert 333 <= stop <= 345


@pytest.mark.parametrize("asked", ["0.5%", "1%"])
@pytest.mark.parametrize("method", ["harmonic", "sub-pca"])
def test_a_rate_comes_out_within_a_factor_of_two_on_ten_thousand_clean_rows(method, asked):
    rate = float(asked[:-1]) / 100
    settings = Settings(method, threshold=asked)
    own = detect(as_series(wave(10_000, noise=0.5)), settings)
    assert rate / 2 < own.flags.mean() < 2 * rate
    assert rate / 2 < own.threshold.measured < 2 * rate
    other = detect(as_series(wave(10_000, noise=0.5, seed=2)), settings, train=own.series)
    assert rate / 2 < other.flags.mean() < 2 * rate
    assert rate / 2 < other.threshold.measured < 2 * rate
    assert f"asked {asked[:-1]} %, measured" in other.threshold.sentence
