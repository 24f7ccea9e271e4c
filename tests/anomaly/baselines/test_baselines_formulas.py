"""Each formula of a baseline written a second way."""

from __future__ import annotations

import numpy as np
import pytest
from common_baselines import controlled, wavy
from scipy.ndimage import median_filter
from sklearn.decomposition import PCA

from locant.anomaly.baselines import (
    distance,
    harmonic,
    local_quadratic,
    nearest_window,
    rolling_median,
    second_difference,
    sub_pca,
)

LEAD, SERIES, _ = controlled(2)
WHOLE = np.concatenate([LEAD, SERIES])


def same(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)


def test_distance_of_a_normalised_series_is_its_largest_absolute_value():
    same(distance.score(LEAD, SERIES), np.abs(SERIES).max(1))


def test_distance_is_the_same_in_other_units():
    units = np.array([1.0, 10.0, 0.1, 3.0, 7.0])
    same(distance.score(LEAD * units + 5, SERIES * units + 5), distance.score(LEAD, SERIES))


def test_second_difference_is_the_difference_of_differences():
    want = np.abs(np.diff(WHOLE, n=2, axis=0)).max(1)[len(LEAD) - 1 :]
    same(second_difference.score(LEAD, SERIES), [*want, want[-1]])


@pytest.mark.parametrize("window", [3, 5, 11])
def test_rolling_median_is_that_of_scipy(window):
    want = np.abs(WHOLE - median_filter(WHOLE, size=(window, 1))).max(1)[len(LEAD) :]
    got = rolling_median.score(LEAD, SERIES, window=window)
    same(got[: -(window // 2)], want[: -(window // 2)])
    same(got[-1], np.abs(SERIES[-1] - np.median(SERIES[-window:], axis=0)).max())


@pytest.mark.parametrize("reach", [2, 3, 5])
def test_local_quadratic_is_a_polynomial_fit_without_the_point(reach):
    want = []
    for at in range(len(LEAD), len(WHOLE) - reach):
        others = np.delete(np.arange(at - reach, at + reach + 1), reach)
        want.append(np.abs(WHOLE[at] - np.polyfit(others - at, WHOLE[others], 2)[2]).max())
    same(local_quadratic.score(LEAD, SERIES, reach=reach)[:-reach], want)


def test_noise_scores_at_the_ends_as_in_the_middle():
    noise = np.random.default_rng(8).normal(size=(1000, 11, 1))
    scores = np.array([local_quadratic.score(row[:0], row) for row in noise])
    spread = np.sqrt((scores**2).mean(0))
    assert spread == pytest.approx(np.full(11, spread[5]), rel=0.12)


def windows_of(whole, window):
    return np.stack(
        [whole[start : start + window] for start in range(len(whole) - window + 1)]
    )  # (N, window, F)


def mean_at_points(windows):
    """The mean of what all windows say of a point, point by point."""
    count, window, _ = windows.shape
    rows = [
        [windows[i, t - i] for i in range(max(0, t - window + 1), min(t, count - 1) + 1)]
        for t in range(count + window - 1)
    ]
    return np.array([np.mean(row, axis=0) for row in rows])


@pytest.mark.parametrize(("window", "components"), [(96, 6), (20, 3)])
def test_sub_pca_is_that_of_sklearn(window, components):
    seen = windows_of(LEAD, window).reshape(len(LEAD) - window + 1, -1)
    pca = PCA(components, svd_solver="full").fit(seen)
    rows = windows_of(np.concatenate([LEAD[1 - window :], SERIES]), window)
    expected = pca.inverse_transform(pca.transform(rows.reshape(len(rows), -1))).reshape(rows.shape)
    same(
        sub_pca.fit(LEAD, SERIES, window=window, components=components),
        mean_at_points(expected)[window - 1 :],
    )


@pytest.mark.parametrize("window", [96, 10])
def test_nearest_window_is_the_first_of_all_distances(window):
    seen = windows_of(LEAD, window)
    seen = seen - seen.mean(1, keepdims=True)
    expected = []
    for row in windows_of(np.concatenate([LEAD[1 - window :], SERIES]), window):
        distances = np.linalg.norm(seen - (row - row.mean(0)), axis=(1, 2))
        expected.append(seen[distances.argmin()] + row.mean(0))
    same(
        nearest_window.fit(LEAD, SERIES, window=window),
        mean_at_points(np.array(expected))[window - 1 :],
    )


def test_nearest_window_does_not_depend_on_the_size_of_its_blocks(monkeypatch):
    want = nearest_window.fit(LEAD, SERIES, window=24)
    for place in (
        "locant.anomaly.baselines.nearest_window.BLOCK",
        "locant.anomaly.baselines._windows.BLOCK",
    ):
        monkeypatch.setattr(place, 37)
    same(nearest_window.fit(LEAD, SERIES, window=24), want)


def test_a_series_that_the_lead_has_seen_is_expected_exactly():
    once = wavy(48)
    lead = np.tile(once, (8, 1))
    same(nearest_window.score(lead, lead[:150] + 0.7)[95:], 0)


def test_harmonic_without_anomalies_is_a_least_squares_fit():
    draw, t = np.random.default_rng(6), np.arange(700)
    angle = 2 * np.pi * t / 33.3
    columns = np.stack([np.ones(700), t, np.cos(angle), np.sin(angle)], axis=1)
    clean = columns @ np.array([1.0, 0.002, 2.0, -1.0])
    same(harmonic.score(clean[:200, None], clean[200:, None], periods=(33.3,)), 0)
    noisy = clean + draw.uniform(-0.1, 0.1, 700)
    want = columns @ np.linalg.lstsq(columns, noisy, rcond=None)[0]
    got = harmonic.fit(noisy[:200, None], noisy[200:, None], periods=(33.3,))[:, 0]
    np.testing.assert_allclose(got, want[200:], atol=0.005)
    np.testing.assert_allclose(
        harmonic.fit(noisy[:200, None], noisy[200:, None])[:, 0], clean[200:], atol=0.03
    )


def test_harmonic_without_any_wave_is_a_straight_line():
    line = np.linspace(-1, 3, 90)[:, None]
    line[60] += 2
    scores = harmonic.score(line[:30], line[30:], components=0)
    same(np.delete(scores, 30), 0)
    assert scores[30] == pytest.approx(2)
