"""Plant a number in a text and ask for it at the end: does a model find it, at which depth?

After Mohtashami and Jaggi 2023, arXiv:2305.16300. A text is read as it is, a sentence with a number
is put in at some depth, and the text ends in the same words without the number. A number counts as
retrieved when each of its tokens is the model's first choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from locant.hf.extending.context_methods import Method, applied
from locant.hf.extending.text_documents import TokenDocument, encode

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PLANTED = " The pass key is {key}. Remember it: {key} is the pass key."
QUESTION = " What is the pass key? The pass key is"
DEPTHS = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Retrieval:
    """What share of planted numbers a method retrieved, of how many, at one length and depth."""

    method: str
    length: int
    depth: float
    retrieved: int
    trials: int


def planted(
    tokenizer: PreTrainedTokenizerBase, document: Tensor, length: int, depth: float, key: int
) -> tuple[Tensor, int]:
    """Return a text of at most `length` tokens with a number planted, and how many end it.

    document  at least `length` tokens (T)
    depth     0 is the beginning, 1 the end
    """
    needle = torch.tensor(encode(tokenizer, PLANTED.format(key=key)))
    question = torch.tensor(encode(tokenizer, QUESTION))
    answer = torch.tensor(encode(tokenizer, f"{QUESTION} {key}"))[len(question) :]
    room = length - len(needle) - len(question) - len(answer)
    if room < 8 or not len(answer):
        raise ValueError(
            f"a text of {length:,} tokens has no room for a planted number in this tokenizer."
        )
    before = round(depth * room)
    text = document[:room]
    parts = [text[:before], needle, text[before:], question, answer]
    return torch.cat(parts), len(answer)


def retrieves(model: PreTrainedModel, ids: Tensor, count: int) -> bool:
    """Tell whether each of the last `count` tokens is the model's first choice before it."""
    with torch.no_grad():
        logits = model(ids[None], use_cache=False, logits_to_keep=count + 1).logits[0]
    return bool((logits[:-1].argmax(-1) == ids[-count:]).all())


def probe_passkey(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    methods: Sequence[Method],
    documents: Sequence[TokenDocument],
    lengths: Sequence[int],
    *,
    advance: Callable[[str], None] = lambda now: None,
    seed: int = 0,
) -> list[Retrieval]:
    """Plant a number in every document, at every depth and length, under every method."""
    found = []
    for method in methods:
        for length in lengths:
            for depth in DEPTHS:
                random = np.random.default_rng(seed)
                retrieved = 0
                for document in documents:
                    key = int(random.integers(10_000, 100_000))
                    ids, count = planted(tokenizer, document.ids, length, depth, key)
                    with applied(model, method):
                        retrieved += retrieves(model, ids, count)
                    advance(f"passkey, {method.name}")
                found.append(Retrieval(method.name, length, depth, retrieved, len(documents)))
    return found
