"""Which order of words is shown first: one that an encoding of distances can tell from the
original."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from locant.explorer.word_order import default_order, reads_reversed, reads_the_same


def distances(order):
    """|m − n| between every two words, where they stand now."""
    place = {word: at for at, word in enumerate(order)}
    return [abs(place[a] - place[b]) for a in range(len(order)) for b in range(len(order))]


@pytest.mark.parametrize("count", range(2, 7))
def test_only_the_original_order_and_the_reversal_keep_every_distance(count):
    words = "abcdef"[:count]
    for order in permutations(range(count)):
        kept = distances(order) == distances(range(count))
        assert kept == (reads_the_same(words, order) or reads_reversed(words, order)), order


def views(words):
    """What each word sees of the others when it sees distances only."""
    return [sorted((abs(m - n), word) for n, word in enumerate(words)) for m in range(len(words))]


@pytest.mark.parametrize("count", range(3, 6))
def test_every_sentence_of_two_different_words_or_more_starts_in_an_order_whose_distances_differ(
    count,
):
    for words in product("abc", repeat=count):
        order = default_order(words)
        assert sorted(order) == list(range(count))
        before, after = views(words), views([words[at] for at in order])
        same = all(after[place] == before[word] for place, word in enumerate(order))
        assert same == (len(set(words)) == 1), words


@pytest.mark.parametrize("count", range(2, 6))
def test_an_order_is_called_blind_where_every_word_sees_the_same_at_the_same_distances(count):
    for words in product("abc", repeat=count):
        before = views(words)
        for order in permutations(range(count)):
            after = views([words[at] for at in order])
            if all(after[place] == before[word] for place, word in enumerate(order)):
                assert reads_the_same(words, order) or reads_reversed(words, order), (words, order)


def test_two_words_can_only_be_reversed():
    assert default_order(["one", "two"]) == [1, 0]
