"""Tie groups and the verdict: no more is said than the runs allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locant.statistics.ranking import rank, tie_letters
from locant.statistics.verdict import verdict


def runs(seeds=10, spread=0.01, seed=0, **means):
    """Scores around means, with a part that all encodings of a seed share."""
    draw = np.random.default_rng(seed)
    shared = draw.normal(0, 0.05, seeds)
    return {name: mean + shared + draw.normal(0, spread, seeds) for name, mean in means.items()}


NAMES = [f"e{i}" for i in range(6)]
PAIRS = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]


@given(st.sets(st.sampled_from(PAIRS)))
@settings(max_examples=100, deadline=None)
def test_two_share_a_letter_exactly_when_they_are_tied(tied):
    letters = tie_letters(NAMES, tied)
    for a, b in PAIRS:
        assert bool(set(letters[a]) & set(letters[b])) == ((a, b) in tied)
    assert all(letters.values())


def test_pairing_sees_what_means_alone_would_not():
    place = rank(runs(rotary=0.90, t5=0.88, spread=0.002))
    assert [row.letters for row in place.rows] == ["a", "b"]
    assert place.rows[0].low < place.rows[1].high  # the intervals of the means overlap


def test_lower_can_be_better():
    place = rank(runs(good=1.0, bad=2.0), higher_is_better=False)
    assert [row.name for row in place.rows] == ["good", "bad"]


def test_a_clear_winner_is_named_with_its_lead():
    said = verdict(rank(runs(rotary=0.9, sinusoidal=0.8, none=0.5)))
    assert said.startswith("rotary is best (")
    assert "It beats sinusoidal by .1" in said


def test_ties_are_named_and_what_it_would_take():
    said = verdict(rank(runs(rotary=0.9, t5=0.9005, sinusoidal=0.8, none=0.5)))
    assert "are best and cannot be told apart (p = " in said
    assert "Both beat sinusoidal by at least .09" in said
    assert "seeds would be needed to tell" in said


def test_what_equals_a_control_is_inconclusive():
    said = verdict(rank(runs(rotary=0.5, t5=0.5, none=0.5, scrambled=0.5)))
    assert said.startswith("Inconclusive: the best, ")


@pytest.mark.parametrize("seeds", [1, 2, 3, 4, 5])
def test_few_seeds_allow_no_claim(seeds):
    said = verdict(rank(runs(seeds, rotary=0.9, none=0.1)))
    assert said.startswith(f"No claim is possible with {seeds} seeds")


def test_between_six_and_ten_seeds_it_is_a_hint():
    assert "With 7 seeds this is a hint; a claim needs 10." in verdict(rank(runs(7, rotary=0.9, none=0.5)))
    assert "hint" not in verdict(rank(runs(10, rotary=0.9, none=0.5)))


def test_controls_are_never_called_best():
    said = verdict(rank(runs(none=0.9, rotary=0.5)))
    assert "none is best" not in said
    assert said.startswith("No encoding helps: the control none is better than the best of them, rotary, by .4")
    assert verdict(rank(runs(none=0.9))) == "There is nothing to compare: no encoding has all its runs."


def test_unequal_numbers_of_seeds_are_refused():
    with pytest.raises(ValueError, match="rotary 4, none 5"):
        rank({"rotary": np.zeros(4), "none": np.zeros(5)})


def test_a_noisy_row_that_ties_with_all_does_not_hide_the_leader():
    scores = runs(rotary=0.99, learned=0.95, none=0.5, spread=0.003)
    scores["wild"] = np.where(np.arange(10) % 2, 0.99, 0.5)
    said = verdict(rank(scores))
    assert said.startswith("rotary is best (")
    assert "wild (.7" in said
    assert "cannot be told from rotary, because its seeds differ too much. It beats learned by .0" in said


def test_a_row_that_is_tied_by_its_spread_alone_is_not_called_best():
    scores = {"rotary": np.ones(10), "wild": np.where(np.arange(10) % 2, 1.0, 0.6), "none": np.linspace(0.3, 0.4, 10)}
    said = verdict(rank(scores))
    assert said.startswith("rotary is best (1.00). wild (.80 ± .15) cannot be told from rotary, because its seeds")


def test_a_plain_method_is_never_called_the_best_encoding_but_its_lead_is_told():
    said = verdict(rank(runs(rotary=0.8, none=0.5, harmonic=0.9)), ("none",), ("harmonic",))
    assert said.startswith("rotary is best")
    assert "The plain method harmonic is better than every encoding, by at least .1" in said
    level = verdict(rank(runs(seed=3, rotary=0.8, none=0.5, harmonic=0.8)), ("none",), ("harmonic",))
    assert "harmonic cannot be told from rotary" in level
    behind = verdict(rank(runs(rotary=0.8, none=0.5, harmonic=0.6)), ("none",), ("harmonic",))
    assert "plain" not in behind


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers_are_refused_not_ranked(wrong):
    with pytest.raises(ValueError, match="rotary"):
        rank({"rotary": np.array([0.5, wrong]), "none": np.array([0.5, 0.5])})
