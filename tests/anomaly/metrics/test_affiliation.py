"""Affiliation against the paper's example, numbers worked by hand, and counts on a fine grid."""

from __future__ import annotations

import numpy as np
import pytest

from locant.anomaly.metrics.affiliation import affiliation

DRAW = np.random.default_rng(14)


def marked(points, *intervals):
    row = np.zeros(points, int)
    for start, stop in intervals:
        row[start:stop] = 1
    return row


def counted(labels, predicted, fine=24):
    """Precision and recall by counting all pairs of moments, `fine` of them to a point."""
    labels, predicted = np.asarray(labels, bool), np.asarray(predicted, bool)
    moments = (np.arange(len(labels) * fine) + 0.5) / fine
    true, flagged = np.repeat(labels, fine), np.repeat(predicted, fine)
    number = np.cumsum(
        np.diff(true.astype(int), prepend=0) == 1
    )  # which event a moment of one belongs to
    apart = np.abs(moments[:, None] - moments[None, :])
    to_event = np.stack([apart[:, true & (number == k)].min(1) for k in range(1, number[-1] + 1)])
    owner = to_event.argmin(0) + 1
    precisions, recalls = [], []
    for k in range(1, number[-1] + 1):
        zone, event = owner == k, true & (number == k)
        near = zone & flagged
        if near.any():
            away = to_event[k - 1]
            precisions.append(
                np.mean([(away[zone] >= away[x]).mean() for x in np.flatnonzero(near)])
            )
            least = apart[:, near].min(1)
            recalls.append(
                np.mean([(apart[y, zone] >= least[y]).mean() for y in np.flatnonzero(event)])
            )
        else:
            recalls.append(0.0)
    return np.mean(precisions), np.mean(recalls)


def test_the_example_of_the_paper_gives_its_published_values():
    # Its second event: [50, 70) minutes in the zone [30, 120), flagged in [40, 60) and [115, 120).
    result = affiliation(marked(90, (20, 40)), marked(90, (10, 30), (85, 90)))
    assert result.precision == pytest.approx(0.672222222, abs=1e-9)
    assert result.recall == pytest.approx(0.944444444, abs=1e-9)


def test_the_whole_example_of_the_paper_agrees_with_a_count_of_moments():
    labels = marked(180, (0, 10), (50, 70), (170, 175))
    flags = marked(180, (5, 6), (7, 10), (11, 12), (40, 60), (115, 130), (135, 140), (165, 170))
    assert affiliation(labels, flags)[:2] == pytest.approx(
        counted(labels, flags, fine=8), abs=0.004
    )


def test_seconds_for_minutes_change_nothing():
    labels, flags = marked(18, (0, 3), (10, 12)), marked(18, (2, 6), (9, 11), (15, 16))
    assert affiliation(np.repeat(labels, 60), np.repeat(flags, 60)) == pytest.approx(
        affiliation(labels, flags)
    )


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_labels_and_flags_agree_with_a_count_of_moments(share, count):
    for _ in range(4):
        labels, flags = np.zeros(36, int), (DRAW.random(36) < share).astype(int)
        flags[DRAW.integers(36)] = 1
        for start in DRAW.integers(0, 36, count):
            labels[start : start + DRAW.integers(1, 6)] = 1
        assert affiliation(labels, flags)[:2] == pytest.approx(counted(labels, flags), abs=0.008)


def test_one_point_late_earns_what_was_worked_by_hand():
    # Event [4, 6) of ten. Flag [6, 7): x is d ∈ (0, 1) away, exceeded by 1 − (2 + 2d)/10,
    # on average .7.
    # y is d ∈ (0, 2) away, exceeded by 1 − 2d/10, on average .8.
    result = affiliation(marked(10, (4, 6)), marked(10, (6, 7)))
    assert result == pytest.approx((0.7, 0.8, 2 * 0.7 * 0.8 / 1.5))


def test_a_flag_at_the_far_end_earns_what_was_worked_by_hand():
    # Event [0, 2) of ten, flag [9, 10): x is d ∈ (7, 8) away, exceeded by (8 − d)/10,
    # on average .05.
    # y ∈ (0, 2) is 9 − y away, exceeded by 1/10: the flag itself.
    result = affiliation(marked(10, (0, 2)), marked(10, (9, 10)))
    assert result[:2] == pytest.approx((0.05, 0.1))


def test_zones_meet_half_way_between_events():
    # Events [0, 1) and [9, 10): the flag [4, 6) is cut at 5, and each half lies d ∈ (3, 4) from its
    # event, exceeded by (4 − d)/5 of its zone, on average .1. The events' moments are 4 − y away,
    # exceeded by 1/5.
    result = affiliation(marked(10, (0, 1), (9, 10)), marked(10, (4, 6)))
    assert result[:2] == pytest.approx((0.1, 0.2))


def test_an_event_without_a_flag_in_its_zone_lowers_recall_but_not_precision():
    labels = marked(20, (2, 4), (15, 17))
    assert affiliation(labels, marked(20, (2, 4))) == pytest.approx((1.0, 0.5, 2 / 3))


def test_flags_equal_to_the_labels_are_worth_one():
    labels = marked(30, (0, 3), (8, 9), (25, 30))
    assert affiliation(labels, labels) == (1.0, 1.0, 1.0)


def test_flags_inside_an_event_have_full_precision_and_less_recall():
    result = affiliation(marked(20, (5, 15)), marked(20, (9, 11)))
    assert result.precision == 1.0
    assert 0.5 < result.recall < 1.0


@pytest.mark.parametrize("half", [1, 2, 4, 10])
def test_flagging_every_point_earns_about_one_half_of_precision(half):
    result = affiliation(marked(20, (10 - half, 10 + half)), np.ones(20))
    assert result[:2] == pytest.approx(((1 + (half / 10) ** 2) / 2, 1.0))


def test_without_a_flag_all_three_are_zero():
    assert affiliation([0, 1, 0], [0, 0, 0]) == (0.0, 0.0, 0.0)


def test_time_may_run_backwards():
    labels, flags = marked(25, (3, 6), (14, 15)), marked(25, (1, 4), (9, 10), (20, 21))
    assert affiliation(labels[::-1], flags[::-1]) == pytest.approx(affiliation(labels, flags))


def test_without_an_event_there_is_nothing_to_be_near_to():
    with pytest.raises(
        ValueError, match=r"^affiliation needs at least one point with label 1. All 3 labels are 0"
    ):
        affiliation([0, 0, 0], [0, 1, 0])
