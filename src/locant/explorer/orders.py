"""Orders of the words of a sentence: the one shown first, and what can be concluded from each.

An encoding that sees distances only (ALiBi) reads the reversed sentence as it reads the original: |m − n| stays. Outputs
that follow their words into that order do not show that order is lost, so another order is needed to tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations


def default_order(words: Sequence[str]) -> list[int]:
    """Swap two words so that distances change: the second and the last if that does it, else the next two that do.

    Two words, or one word repeated, have no such order: they are reversed.

    >>> [words[at] for words in ["the cat chased the mouse".split()] for at in default_order(words)]
    ['the', 'mouse', 'chased', 'the', 'cat']
    >>> default_order(["one", "two", "three"]), default_order(["one", "two"])
    ([0, 2, 1], [1, 0])
    """
    last = len(words) - 1
    for one, other in sorted(
        combinations(range(last + 1), 2), key=lambda pair: (pair[0] != 1, -pair[1])
    ):
        order = list(range(last + 1))
        order[one], order[other] = other, one
        if not reads_the_same(words, order) and not reads_reversed(words, order):
            return order
    return list(range(last + 1))[::-1]


def reads_the_same(words: Sequence[str], order: Sequence[int]) -> bool:
    """Whether the sentence reads as before: nothing is moved, or equal words change places.

    >>> reads_the_same(["the", "cat", "the"], [2, 1, 0]), reads_the_same(["the", "cat"], [1, 0])
    (True, False)
    """
    return _reading(words, order) == _reading(words)


def reads_reversed(words: Sequence[str], order: Sequence[int]) -> bool:
    """Whether the sentence is read from its last word to its first, which keeps every distance between words.

    >>> reads_reversed(["a", "b", "c"], [2, 1, 0]), reads_reversed(["a", "b", "c"], [1, 2, 0])
    (True, False)
    """
    return _reading(words, order) == _reading(words)[::-1]


def verdict(words: Sequence[str], order: Sequence[int], *, follow: bool) -> str:
    """Say what can be concluded when the outputs follow their words into this order, or do not.

    >>> verdict(["a", "b"], [1, 0], follow=False)
    'the outputs change. Words give other vectors in another order: order is seen.'
    """
    if not follow:
        return "the outputs change. Words give other vectors in another order: order is seen."
    if reads_the_same(words, order):
        why = "but the sentence reads as before, so this says nothing about order."
    elif reads_reversed(words, order):
        why = (
            "but a reversed sentence keeps every distance between its words. "
            "An encoding that sees distances only cannot tell this order from the original."
        )
    else:
        return "the outputs just follow their words. Every word gives the same vector wherever it stands: order is lost."
    return f"the outputs just follow their words, {why} {_advice(words)}"


def _advice(words: Sequence[str]) -> str:
    """What to do for an order that tells more."""
    if len(words) > 2 and len(set(_reading(words))) > 1:
        return "Try another order."
    return "Add a different word, then try another order."


def _reading(words: Sequence[str], order: Sequence[int] | None = None) -> list[str]:
    """The words one after the other; capitals make no difference."""
    return [words[at].lower() for at in (range(len(words)) if order is None else order)]
