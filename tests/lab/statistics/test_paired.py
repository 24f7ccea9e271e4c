"""Intervals, tests and sizes against scipy, published values and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from locant.lab.statistics.paired import (
    cohens_d,
    compare,
    detectable,
    holm,
    improvement,
    interval,
    seeds_needed,
    sign_flip,
    step_down,
)

DRAW = np.random.default_rng(7)


@pytest.mark.parametrize("seeds", [2, 3, 6, 10, 25])
def test_the_interval_is_that_of_the_paired_t_test(seeds):
    a, b = DRAW.normal(size=(2, seeds))
    want = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert interval(a - b) == pytest.approx((want.low, want.high))


@pytest.mark.parametrize("seeds", [3, 5, 6, 10, 12])
def test_sign_flips_are_exact_for_few_seeds(seeds):
    d = DRAW.normal(0.4, 1, seeds)
    want = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert sign_flip(d) == pytest.approx(want)


def test_many_seeds_are_drawn_and_agree_with_the_exact_value():
    d = DRAW.normal(0.5, 1, 14)
    want = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert sign_flip(d) == pytest.approx(want, abs=0.01)
    assert sign_flip(d) == sign_flip(d)


@pytest.mark.parametrize(
    ("seeds", "least"), [(3, 0.25), (5, 0.0625), (6, 0.03125), (10, 0.001953125)]
)
def test_the_smallest_p_is_set_by_the_number_of_seeds(seeds, least):
    assert sign_flip(np.linspace(1, 2, seeds)) == least


def test_no_difference_at_all_is_p_one():
    assert sign_flip(np.zeros(8)) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_holm_never_lowers_a_p_and_keeps_their_order(ps):
    adjusted = holm(ps)
    assert all(new >= old - 1e-12 for new, old in zip(adjusted, ps, strict=True))
    assert all(0 <= new <= 1 for new in adjusted)
    order = np.argsort(ps)
    assert np.all(np.diff(np.array(adjusted)[order]) >= -1e-12)


def test_holm_gives_the_published_example():
    """Holm 1979 as worked in Wright 1992, table 2: .005, .011, .02, .04, .13 → .025, .044, .06,
    .08, .13."""
    assert holm([0.005, 0.011, 0.02, 0.04, 0.13]) == pytest.approx([0.025, 0.044, 0.06, 0.08, 0.13])


@pytest.mark.parametrize(("effect", "seeds"), [(1.0, 10), (0.8, 15), (0.5, 34), (0.2, 199)])
def test_seeds_needed_are_those_of_power_tables(effect, seeds):
    """Paired t test, two-sided .05, power .8 (Cohen 1988; G*Power)."""
    assert seeds_needed(effect, 1.0) == seeds


@pytest.mark.parametrize("seeds", [6, 10, 30])
def test_the_detectable_effect_needs_just_these_seeds(seeds):
    effect = detectable(2.0, seeds)
    assert seeds_needed(effect * 1.001, 2.0) == seeds


def test_what_cannot_be_found_is_said_to_be_so():
    assert seeds_needed(0.0, 1.0) is None
    assert seeds_needed(0.001, 1.0) is None
    assert seeds_needed(0.3, 0.0) == 6
    assert detectable(1.0, 1) == float("inf")


def test_improvement_is_half_for_equals_and_one_for_certain_winners():
    a = np.arange(5.0)
    assert improvement(a, a) == 0.5
    assert improvement(a + 9, a) == 1.0
    assert improvement(a, a + 9) == 0.0
    u = stats.mannwhitneyu(a + 0.5, a).statistic / 25
    assert improvement(a + 0.5, a) == pytest.approx(u)


def test_effect_sizes_of_equal_differences():
    assert cohens_d(np.zeros(4)) == 0
    assert cohens_d(np.ones(4)) == float("inf")
    assert cohens_d(np.array([1.0, 3.0])) == pytest.approx(2 / np.sqrt(2))


def test_the_interval_covers_the_truth_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(0.3, 1, size=(4000, 6))
    covered = np.mean([low <= 0.3 <= high for low, high in map(interval, draws)])
    assert covered == pytest.approx(0.95, abs=0.012)


def test_a_comparison_turns_its_sign_with_its_sides():
    a, b = DRAW.normal(size=(2, 9))
    one, other = compare(a, b), compare(b, a)
    assert one.mean == pytest.approx(-other.mean)
    assert one.low == pytest.approx(-other.high)
    assert one.p == other.p
    assert one.improvement == pytest.approx(1 - other.improvement)


def test_one_comparison_needs_no_correction():
    d = DRAW.normal(0.4, 1, (9, 1))
    assert step_down(d)[0] == pytest.approx(sign_flip(d[:, 0]))


def test_joint_correction_is_never_below_a_single_test_and_never_above_holm_by_much():
    d = DRAW.normal(0.6, 1, (10, 12))
    single = [sign_flip(column) for column in d.T]
    joint = step_down(d)
    assert all(j >= s - 1e-12 for j, s in zip(joint, single, strict=True))
    assert sum(joint) <= sum(holm(single)) + 1e-9


def test_ten_seeds_can_tell_the_best_of_thirteen_rows():
    """78 pairs: Holm could never reach .05 (78 · 2/1024 = .15)."""
    gaps = np.tile(np.linspace(1, 1.2, 10)[:, None], (1, 78)) * np.linspace(0.5, 2, 78)
    assert max(step_down(gaps)) == 2 / 1024
    assert min(holm([sign_flip(column) for column in gaps.T])) > 0.05


def test_false_alarms_of_all_pairs_together_stay_at_five_in_a_hundred():
    draw, alarms = np.random.default_rng(3), 0
    for _ in range(400):
        scores = draw.normal(size=(8, 5))
        gaps = np.stack([scores[:, i] - scores[:, j] for i in range(5) for j in range(i)], 1)
        alarms += min(step_down(gaps)) < 0.05
    assert alarms / 400 < 0.085
