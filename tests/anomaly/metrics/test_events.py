"""Runs of True, and which of them were noticed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locant.anomaly.metrics.events import event_recall, events


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        ([0, 0], []),
        ([1], [(0, 1)]),
        ([1, 1, 0, 0, 1], [(0, 2), (4, 5)]),
        ([0, 1, 0, 1, 1, 0], [(1, 2), (3, 5)]),
        ([True, True], [(0, 2)]),
    ],
)
def test_events_are_the_runs_of_true(labels, want):
    assert events(labels) == want
    assert events(np.array(labels)) == want


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_events_give_the_labels_back_and_never_touch(labels):
    found = events(labels)
    again = np.zeros(len(labels), bool)
    for start, stop in found:
        again[start:stop] = True
    assert again.tolist() == labels
    assert all(stop < start for (_, stop), (start, _) in pairwise(found))
    assert all(type(end) is int for event in found for end in event)


@pytest.mark.parametrize(
    ("windows", "want"),
    [
        ([(0, 2)], 0.0),  # its stop is not of it
        ([(0, 3)], 1.0),
        ([(2, 3)], 1.0),
        ([(3, 6)], 0.0),
        ([(0, 2), (1, 3), (2, 6), (3, 4)], 0.5),
    ],
)
def test_a_window_is_found_when_one_of_its_points_is_flagged(windows, want):
    assert event_recall(windows, [0, 0, 1, 0, 0, 0]) == want


def test_more_flags_in_a_window_find_it_only_once():
    assert event_recall([(0, 3), (4, 6)], [1, 1, 1, 0, 0, 0]) == 0.5


@pytest.mark.parametrize("window", [(-1, 2), (2, 2), (3, 2), (0, 4)])
def test_a_window_must_hold_points_of_the_series(window):
    with pytest.raises(
        ValueError, match=r"was given the window .*, but there are 3 points.\n  A window holds"
    ):
        event_recall([(0, 1), window], [0, 1, 0])


def test_without_a_window_there_is_no_share():
    with pytest.raises(ValueError, match=r"^event_recall needs at least one window. Got none"):
        event_recall([], [0, 1, 0])
