"""VUS-PR against TSB-AD's values, its formulas written as loops, and average precision."""

from __future__ import annotations

from math import sqrt
from time import perf_counter

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from locant.anomaly.metrics.events import events
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.anomaly.metrics.vus_window import vus_window

DRAW = np.random.default_rng(13)

# (seed, points, window) → `generate_curve(labels, scores, window, "opt", 250)` of TSB-AD 1.5
TSB_AD = {
    (0, 400, 61): 0.383033444673,
    (1, 30, 61): 0.681895419490,
    (2, 250, 7): 0.935107498393,
    (3, 400, 2): 0.044714045208,
    (4, 1500, 0): 0.102860555006,
    (5, 249, 2): 0.540451931697,
    (6, 251, 2): 0.099501059172,
    (7, 100, 0): 0.195991266533,
    (8, 30, 0): 1.000000000000,
    (9, 100, 150): 0.809099384915,
    (10, 100, 24): 0.706959177214,
    (11, 777, 1): 1.000000000000,
    (12, 249, 7): 0.158127541197,
    (13, 249, 150): 0.559024384033,
    (14, 100, 150): 1.000000000000,
    (15, 777, 61): 0.218940749345,
    (16, 30, 2): 0.543847077437,
    (17, 400, 7): 0.735819264988,
    (18, 400, 24): 0.246999205964,
    (19, 400, 0): 0.042979692521,
    (20, 1500, 7): 0.721270469497,
    (21, 1500, 1): 0.006000000000,
    (22, 249, 150): 0.924208283699,
    (23, 100, 0): 0.666666666667,
}


def made(seed, points):
    """Labels in short runs, at the ends too; scores drawn, coarse, constant, late or blurred."""
    draw = np.random.default_rng(seed)
    labels = np.zeros(points, int)
    for start in draw.integers(0, points, draw.integers(1, 7)):
        labels[start : start + draw.integers(1, 9)] = 1
    labels[0] |= seed % 4 == 0
    labels[-1] |= seed % 5 == 0
    labels[points // 2] = 0
    scores = (
        draw.random(points),
        draw.integers(0, 4, points).astype(float),
        labels + 0.3 * draw.normal(size=points),
        np.ones(points),
        np.round(np.roll(labels, 3) + 0.5 * draw.random(points), 1),
        np.convolve(labels, np.ones(9) / 9, "same"),
    )
    return labels, scores[seed % 6]


@pytest.mark.parametrize("case", TSB_AD)
def test_the_volume_is_that_of_tsb_ad(case):
    seed, points, window = case
    assert vus_pr(*made(seed, points), window=window) == pytest.approx(TSB_AD[case], abs=1e-9)


def by_definition(labels, scores, window):
    """The formulas, threshold by threshold, point by point."""
    ranges, points = events(labels), range(len(labels))
    falling = sorted(scores, reverse=True)
    thresholds = [falling[int(rank)] for rank in np.linspace(0, len(scores) - 1, 250)]
    areas = []
    for length in range(window + 1):
        soft, regions = [label_of(i, ranges, length) for i in points], merged(ranges, length // 2)
        area, before = 0.0, 0.0
        for threshold in thresholds:
            flagged = [i for i in points if scores[i] >= threshold]
            found = [any(start <= i < stop for i in flagged) for start, stop in regions]
            hits = sum(soft[i] for i in flagged)
            positives = sum(labels) + sum(soft[i] for i in flagged if not labels[i]) / 2
            recall = min(1.0, hits / positives) * sum(found) / len(regions)
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


def merged(ranges, half):
    """The ranges with their buffers; those that share a point are one."""
    out = []
    for start, stop in ranges:
        if out and start - half < out[-1][1]:
            out[-1] = (out[-1][0], stop + half)
        else:
            out.append((start - half, stop + half))
    return out


def drawn(points, runs, levels):
    """Labels in short runs, some near each other or at the ends; scores follow them a little."""
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


def test_a_series_that_is_anomalous_throughout_is_one_range():
    assert vus_pr([1, 1, 1], [3, 1, 2], window=2) == by_definition([1, 1, 1], [3, 1, 2], 2) == 1.0


def test_a_peak_one_point_late_earns_what_was_worked_by_hand():
    near = sqrt(1 / 2)  # the label beside the event when ℓ = 2
    first = near / (
        1 + near / 2
    )  # the recall when the late point alone is flagged; its precision is `near`
    flat = (1 + 2 * near) / 10  # the precision when all ten points are flagged; their recall is 1
    area = first * near + (1 - first) * flat
    late = vus_pr([0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0, 0, 0], window=2)
    assert late == pytest.approx((0.1 + 0.1 + area) / 3)  # ℓ = 0 and ℓ = 1 reach no neighbour
    assert late == pytest.approx(0.2282, abs=5e-5)


@pytest.mark.parametrize("window", [0, 3, 24, 100])
def test_scores_that_are_the_labels_earn_one_and_blurred_ones_no_more(window):
    labels = np.zeros(400, int)
    labels[100:120] = labels[300:303] = 1
    blurred = np.convolve(labels, np.ones(15) / 15, "same")
    assert vus_pr(labels, labels, window=window) == 1.0
    assert vus_pr(labels, blurred, window=window) < 1.0


def test_without_a_buffer_one_range_gives_average_precision():
    labels, scores = drawn(200, 1, 20)
    assert vus_pr(labels, scores, window=0) == pytest.approx(
        average_precision_score(labels, scores)
    )
    assert vus_pr(labels, scores, window=1) == pytest.approx(
        average_precision_score(labels, scores)
    )


def test_finding_one_range_of_two_halves_the_recall():
    labels = [1, 0, 0, 0, 0, 0, 0, 1]
    scores = [9, 0, 0, 0, 0, 0, 0, 1]  # one range: recall ½·½; then both
    assert vus_pr(labels, scores, window=0) == 1.0
    scores = [9, 0, 0, 5, 0, 0, 0, 1]  # precision 1 up to recall ¼, then 2 of 3
    assert vus_pr(labels, scores, window=0) == pytest.approx(1 / 4 + 3 / 4 * 2 / 3)


def test_ranges_whose_buffers_share_a_point_count_as_one():
    scores = [9, 0, 0, 0, 1, 0, 0]
    apart = vus_pr([1, 0, 0, 0, 1, 0, 0], scores, window=3)  # ℓ = 2: buffers reach 1 and 3
    meeting = vus_pr([1, 0, 1, 0, 0, 0, 0], [9, 0, 1, 0, 0, 0, 0], window=3)  # both reach 1
    assert apart == meeting == 1.0  # the labels are found before anything else
    wrong_first = [9, 0, 0, 0, 0, 5, 1]
    assert vus_pr([1, 0, 1, 0, 0, 0, 0], wrong_first, window=3) > vus_pr(
        [1, 0, 0, 1, 0, 0, 0], wrong_first, window=3
    )


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


def test_the_volume_of_20000_points_takes_about_a_second_at_most():
    labels, scores = drawn(20_000, 200, 10**6)
    start = perf_counter()
    vus_pr(labels, scores, window=125)
    assert perf_counter() - start < 2.0


@pytest.mark.parametrize(("period", "window"), [(24, 24), (288, 288), (3, 6), (4, 125), (350, 125)])
def test_the_window_is_the_period_that_tsb_ad_finds(period, window):
    # as `find_length_rank` of TSB-AD 1.5 gives them, also for periods that it does not believe
    time, noise = np.arange(4000), np.random.default_rng(1).normal(0, 0.1, 4000)
    assert vus_window((np.sin(2 * np.pi * time / period + 0.3) + noise)[:, None]) == window


def test_the_window_is_found_for_numbers_of_any_size_and_few_rows():
    wave = np.sin(2 * np.pi * np.arange(500) / 24)[:, None]
    assert {vus_window(wave * size) for size in (1e-300, 1.0, 1e300)} == {24}
    assert vus_window(wave[:1]) == vus_window(wave[:4]) == 125


@pytest.mark.parametrize("window", [-1, 2.5, True])
def test_the_window_is_a_whole_number(window):
    with pytest.raises(
        ValueError, match=r"^vus_pr needs a whole number of at least 0 for window. Got"
    ):
        vus_pr([0, 1], [0, 1], window=window)


def test_without_an_anomaly_there_is_no_volume():
    with pytest.raises(
        ValueError, match=r"^vus_pr needs at least one point with label 1. All 2 labels are 0"
    ):
        vus_pr([0, 0], [0.1, 0.2], window=1)
