"""VUS-PR against its definition written as loops, against numbers worked by hand, and against average precision."""

from __future__ import annotations

from math import sqrt
from time import perf_counter

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from locant.metrics.events import events
from locant.metrics.vus_pr import vus_pr

DRAW = np.random.default_rng(13)


def by_definition(labels, scores, window, thresholds=None):
    """The formulas of the paper, threshold by threshold, point by point."""
    thresholds = sorted(set(scores), reverse=True) if thresholds is None else thresholds
    ranges = events(labels)
    areas = []
    for length in range(window + 1):
        soft = [label_of(i, ranges, length) for i in range(len(labels))]
        positives = (sum(labels) + sum(soft)) / 2
        area, before = 0.0, 0.0
        for threshold in thresholds:
            flagged = [i for i, score in enumerate(scores) if score >= threshold]
            found = [any(start - length // 2 <= i < stop + length // 2 for i in flagged) for start, stop in ranges]
            hits = sum(soft[i] for i in flagged)
            recall = min(1.0, hits / positives) * sum(found) / len(ranges)
            area, before = area + (recall - before) * hits / len(flagged), recall
        areas.append(area)
    return sum(areas) / len(areas)


def label_of(i, ranges, length):
    label = 0.0
    for start, stop in ranges:
        distance = max(start - i, i - (stop - 1), 0)
        if distance <= length // 2:
            label += sqrt(1 - distance / length) if distance else 1.0
    return min(label, 1.0)


def drawn(points, runs, levels):
    """Labels in short runs, some near each other and at the ends, and scores that follow them a little."""
    labels = np.zeros(points, int)
    for start in DRAW.integers(0, points, runs):
        labels[start : start + DRAW.integers(1, 5)] = 1
    return labels, DRAW.integers(0, levels, points) / levels + 0.3 * labels


@pytest.mark.parametrize("window", [0, 1, 2, 7])
@pytest.mark.parametrize(("runs", "levels"), [(1, 6), (3, 6), (6, 1000)])
def test_the_volume_is_that_of_the_definition(runs, levels, window):
    labels, scores = drawn(40, runs, levels)
    want = by_definition(labels.tolist(), scores.tolist(), window)
    assert vus_pr(labels, scores, window=window) == pytest.approx(want, abs=1e-12)


def test_a_peak_one_point_late_earns_what_was_worked_by_hand():
    near = sqrt(1 / 2)  # the label beside the event when ℓ = 2
    positives = (1 + 1 + 2 * near) / 2
    flat = (1 + 2 * near) / 10  # the precision when all ten points are flagged
    area = near / positives * near + (1 - near / positives) * flat
    late = vus_pr([0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0, 0, 0], window=2)
    assert late == pytest.approx((0.1 + 0.1 + area) / 3)  # ℓ = 0 and ℓ = 1 reach no neighbour
    assert late == pytest.approx(0.2114, abs=5e-5)


def test_without_a_buffer_one_range_gives_average_precision():
    labels, scores = drawn(200, 1, 20)
    assert vus_pr(labels, scores, window=0) == pytest.approx(average_precision_score(labels, scores))
    assert vus_pr(labels, scores, window=1) == pytest.approx(average_precision_score(labels, scores))


def test_finding_one_range_of_two_halves_the_recall():
    labels = [1, 0, 0, 0, 0, 0, 0, 1]
    scores = [9, 0, 0, 0, 0, 0, 0, 1]  # one range: recall ½·½; then both
    assert vus_pr(labels, scores, window=0) == 1.0
    scores = [9, 0, 0, 5, 0, 0, 0, 1]  # precision 1 up to recall ¼, then 2 of 3
    assert vus_pr(labels, scores, window=0) == pytest.approx(1 / 4 + 3 / 4 * 2 / 3)


def test_constant_scores_are_worth_the_share_of_anomalies():
    labels = [0, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    assert vus_pr(labels, [4] * 10, window=0) == pytest.approx(0.3)


@pytest.mark.parametrize("late", [1, 2, 3])
def test_scores_that_come_late_are_forgiven_less_the_later_they_come(late):
    labels = np.zeros(60, int)
    labels[20:24] = 1
    windowed = [vus_pr(labels, np.roll(labels, shift), window=12) for shift in (late - 1, late, 30)]
    assert windowed[0] > windowed[1] > windowed[2]
    assert vus_pr(labels, np.roll(labels, late), window=12) == pytest.approx(
        vus_pr(labels, np.roll(labels, -late), window=12)
    )  # early or late is the same


def test_buffers_end_with_the_series():
    inside = vus_pr([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0], window=6)
    cut = vus_pr([1, 1, 0, 0, 0], [1, 1, 0, 0, 0], window=6)
    assert cut == pytest.approx(by_definition([1, 1, 0, 0, 0], [1, 1, 0, 0, 0], 6))
    assert cut > inside


def test_up_to_250_points_the_thresholds_of_250_ranks_give_the_same():
    labels, scores = drawn(200, 5, 10**6)
    sampled = np.sort(scores)[::-1][np.linspace(0, 199, 250).astype(int)]
    want = by_definition(labels.tolist(), scores.tolist(), 3, sampled.tolist())
    assert vus_pr(labels, scores, window=3) == pytest.approx(want, abs=1e-12)


def test_the_volume_of_8000_points_takes_well_under_two_seconds():
    labels, scores = drawn(8000, 40, 10**6)
    start = perf_counter()
    vus_pr(labels, scores, window=48)
    assert perf_counter() - start < 1.0


@pytest.mark.parametrize("window", [-1, 2.5, True])
def test_the_window_is_a_whole_number(window):
    with pytest.raises(ValueError, match=r"^vus_pr needs a whole number of at least 0 for window. Got"):
        vus_pr([0, 1], [0, 1], window=window)


def test_without_an_anomaly_there_is_no_volume():
    with pytest.raises(ValueError, match=r"^vus_pr needs at least one point with label 1. All 2 labels are 0"):
        vus_pr([0, 0], [0.1, 0.2], window=1)
