"""Shuffle the words of a sentence: do the outputs of a small model just follow their words?

An encoding that sees distances only (ALiBi) reads the reversed sentence as it reads the original:
|m − n| stays. Outputs that follow their words into that order do not show that order is lost, so
the verdict asks for another order, and the order shown first is one that tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor

from locant._internal.seeds import stable_seed
from locant._internal.user_code import user_code
from locant.certification.probe import Probe, seeded, starts_at_zero
from locant.encodings.base import Encoding
from locant.explorer.encoding_views import Size, make_seeded
from locant.explorer.serialization import to_json
from locant.figures.data.base import on_axes
from locant.nn.transformer import Transformer

TOLERANCE = 1e-4  # relative to an output's norm: less is float32 rounding


@torch.no_grad()
def shuffle(name: str, size: Size, words: list[str], order: list[int]) -> bytes:
    """Compute the outputs of a sentence and of the same words in another order, (T, D) each.

    order  the index of each word of the shuffled sentence; `default_order` when it is empty

    `change` says by how much each word's output differs, `verdict` what follows from it.
    """
    order = order or default_order(words)
    with user_code(name):
        made = make_seeded(name, {**size, "length": max(size["length"], len(words))})
        original, restored = _outputs(made, words, order)
        change = _relative_change(original, restored)
        follow = bool((change <= TOLERANCE).all())
        drawn = follow and starts_at_zero(made)  # it does nothing before it is trained
        if drawn:
            original, restored = _outputs(Probe(made).randomized(), words, order)
            change = _relative_change(original, restored)
            follow = bool((change <= TOLERANCE).all())
    message = verdict(words, order, follow=follow)
    if drawn:
        message = f"with its learned numbers, which start at 0, drawn at random, {message}"
    return to_json(
        {
            "words": words,
            "order": order,
            "original": original.double().numpy(),
            "restored": restored.double().numpy(),
            "change": change.double().numpy(),
            "follow": follow,
            "verdict": message,
        }
    )


def _outputs(encoding: Encoding, words: list[str], order: list[int]) -> tuple[Tensor, Tensor]:
    """Run a small model on a sentence and on its words in another order.

    Returns the outputs of both, (T, D) each, in the order of the sentence.
    """
    with seeded(1):
        model = Transformer(encoding, layers=2, causal=encoding.causal_only).eval()
    pos = on_axes(encoding, torch.arange(len(words)))
    x = torch.stack([_word_vector(word, encoding.shape.dim) for word in words])[None]
    original = model(x, pos)[0]  # (T, D)
    shuffled = model(x[:, order], pos)[0]
    restored = torch.empty_like(shuffled)
    restored[order] = shuffled  # the output of each word, wherever it stood
    return original, restored


def _relative_change(original: Tensor, restored: Tensor) -> Tensor:
    """Compute by how much each output (T, D) differs, relative to its norm: (T)."""
    return (restored - original).norm(dim=1) / original.norm(dim=1).clamp(min=1e-12)


def _word_vector(word: str, dim: int) -> Tensor:
    """Draw a vector (D) for a word, the same wherever the word stands."""
    draw = torch.Generator().manual_seed(stable_seed(f"word/{word.lower()}"))
    return torch.randn(dim, generator=draw)


def default_order(words: Sequence[str]) -> list[int]:
    """Swap two words so that distances change: the second and the last if that does it, else the
    next two that do.

    Two words, or one word repeated, have no such order: they are reversed.

    >>> words = "the cat chased the mouse".split()
    >>> [words[index] for index in default_order(words)]
    ['the', 'mouse', 'chased', 'the', 'cat']
    >>> default_order(["one", "two", "three"]), default_order(["one", "two"])
    ([0, 2, 1], [1, 0])
    """
    swaps = sorted(combinations(range(len(words)), 2), key=lambda pair: (pair[0] != 1, -pair[1]))
    for one, other in swaps:
        order = list(range(len(words)))
        order[one], order[other] = other, one
        if not reads_the_same(words, order) and not reads_reversed(words, order):
            return order
    return list(reversed(range(len(words))))


def reads_the_same(words: Sequence[str], order: Sequence[int]) -> bool:
    """Tell whether the sentence reads as before: nothing is moved, or only equal words are swapped.

    >>> reads_the_same(["the", "cat", "the"], [2, 1, 0]), reads_the_same(["the", "cat"], [1, 0])
    (True, False)
    """
    return _reading(words, order) == _reading(words)


def reads_reversed(words: Sequence[str], order: Sequence[int]) -> bool:
    """Tell whether the sentence is reversed, which keeps every distance between words.

    >>> reads_reversed(["a", "b", "c"], [2, 1, 0]), reads_reversed(["a", "b", "c"], [1, 2, 0])
    (True, False)
    """
    return _reading(words, order) == _reading(words)[::-1]


def verdict(words: Sequence[str], order: Sequence[int], *, follow: bool) -> str:
    """Say what can be concluded when the outputs follow their words into this order, or do not.

    >>> verdict(["a", "b"], [1, 0], follow=False)
    'the outputs change. The words get other vectors in another order: order is seen.'
    """
    if not follow:
        return "the outputs change. The words get other vectors in another order: order is seen."
    if reads_the_same(words, order):
        why = "but the sentence reads as before, so this says nothing about order."
    elif reads_reversed(words, order):
        why = (
            "but a reversed sentence keeps every distance between its words. "
            "An encoding that sees distances only cannot tell this order from the original."
        )
    else:
        return (
            "the outputs just follow their words. "
            "Every word gets the same vector wherever it stands: order is lost."
        )
    return f"the outputs just follow their words, {why} {_advice(words)}"


def _advice(words: Sequence[str]) -> str:
    """Say how to get an order that tells more."""
    if len(words) > 2 and len(set(_reading(words))) > 1:
        return "Try another order."
    return "Add a different word, then try another order."


def _reading(words: Sequence[str], order: Sequence[int] | None = None) -> list[str]:
    """List the words in an order; capitals make no difference."""
    indices = range(len(words)) if order is None else order
    return [words[index].lower() for index in indices]
