"""Slots, as published: which of three patterns of two values at two places does a row hold?

The protocol is followed to the letter, its flaws included: writing a pattern in raises the counts of its tokens, so a
model without positions is right far more often than one in three; token 0 is taken for padding; and the reported
accuracy is that of the validation rows that chose the weights. The rows are the published ones, number for number: numpy's
legacy generator draws them, class after class, and torch's shuffles them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from locant._internal.seeds import stable_seed
from locant.lab.tasks._linear import fit_and_score
from locant.lab.tasks.base import Batch, Predict, Scores, Tested

PATTERNS = (
    ((3, 5), (7, 8)),
    ((5, 3), (10, 9)),
    ((15, 7), (20, 4)),
)  # (place, token) twice for each class
LENGTH, SYMBOLS, CLASSES = 32, 20, len(PATTERNS)
SIZES = {"train": 5_000, "validation": 1_000, "demo": 100}
SEEDS = {
    "train": 42,
    "validation": 43,
    "demo": 44,
    "unseen": 45,
    "ceiling": 46,
}  # the first three are the published ones
PADDING = 0  # an ordinary token that is taken for padding
DRAWS = 100_000  # rows from which the ceiling is estimated


@dataclass(frozen=True)
class SlotsFaithful:
    """Rows of 32 tokens out of 20; the same data for every seed.

    >>> rows = SlotsFaithful().batch(32, seed=0, step=0)
    >>> rows.inputs.shape, bool((rows.real == (rows.inputs != 0)).all())
    (torch.Size([32, 32]), True)
    """

    length: int = LENGTH

    symbols = SYMBOLS
    features = 0
    outputs = CLASSES
    pool = True
    causal = False
    metric = "accuracy"
    higher_is_better = True
    tested_on = "the validation rows that chose the weights"
    chooses = "accuracy"
    chooses_higher = True
    chance = 1 / CLASSES
    threshold = 0.9
    oracles: tuple[str, ...] = ()
    baselines = ("token counts", "token × place")

    @property
    def reach(self) -> int:
        return self.length

    def ceilings(self) -> Scores:
        """Without positions, the class whose two tokens have the larger product of counts is likeliest."""
        rows = draw_rows(DRAWS, "ceiling")
        counts = one_hot(rows.inputs, SYMBOLS).sum(1)
        odds = torch.stack([counts[:, a] * counts[:, b] for (_, a), (_, b) in PATTERNS], 1)
        return {
            "without positions": round((odds.argmax(1) == rows.target).double().mean().item(), 3)
        }

    def batch(self, count: int, seed: int, step: int) -> Batch:
        """Epochs in a new order each; the last batch of one may be smaller."""
        rows = draw_rows(SIZES["train"], "train")
        epoch, place = divmod(step, -(-len(rows.inputs) // count))
        order = np.random.default_rng(stable_seed("epoch", seed, epoch)).permutation(
            len(rows.inputs)
        )
        chosen = torch.from_numpy(order[place * count : (place + 1) * count])
        return _padded(rows.inputs[chosen], rows.target[chosen])

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output, target)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = draw_rows(SIZES["validation"], "validation")
        output = predict(rows.inputs, rows.real)
        right = (output.argmax(-1) == rows.target).double().mean().item()
        return {"accuracy": right, "loss": cross_entropy(output, rows.target).item()}

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        """The published accuracy (of the rows that chose), and that of rows that nothing has seen."""
        rows = draw_rows(count, "unseen")
        output = predict(rows.inputs, rows.real)
        unseen = (output.argmax(-1) == rows.target).double().mean().item()
        columns: dict[str, list[Any]] = {
            "target": rows.target.tolist(),
            "answer": output.argmax(-1).tolist(),
        }
        return Tested(
            {**self.validate(predict, count, seed), "accuracy, unseen rows": unseen}, columns
        )

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        train, rows = (
            draw_rows(SIZES["train"], "train"),
            draw_rows(SIZES["validation"], "validation"),
        )
        return fit_and_score(name, train, rows, CLASSES)

    def example(self, seed: int) -> Batch:
        rows = draw_rows(SIZES["demo"], "demo")
        return _padded(rows.inputs[:1], rows.target[:1])


@lru_cache(maxsize=8)
def draw_rows(count: int, purpose: str) -> Batch:
    """Rows of a data set, a third of each class (the last class has up to two fewer), in a random order."""
    seed, each = SEEDS[purpose], -(-count // CLASSES)
    draw = np.random.RandomState(seed)
    tokens = np.concatenate([_rows_of(label, each, draw) for label in range(CLASSES)])[:count]
    labels = np.arange(CLASSES).repeat(each)[:count]
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return _padded(torch.from_numpy(tokens)[order], torch.from_numpy(labels)[order])


def _rows_of(label: int, count: int, draw: np.random.RandomState) -> np.ndarray:
    """Rows of one class: random ones with the pattern written in, but none that held another class's by chance."""
    kept = np.empty((0, LENGTH), int)
    while len(kept) < count:
        tokens = draw.randint(0, SYMBOLS, (count - len(kept), LENGTH))
        kept = np.concatenate([kept, tokens[_holds(tokens, label) | ~_holds_any(tokens)]])
    for place, token in PATTERNS[label]:
        kept[:, place] = token
    return kept


def _holds(tokens: np.ndarray, label: int) -> np.ndarray:
    """Which rows match the pattern of a class."""
    return np.all([tokens[:, place] == token for place, token in PATTERNS[label]], axis=0)


def _holds_any(tokens: np.ndarray) -> np.ndarray:
    return np.any([_holds(tokens, label) for label in range(CLASSES)], axis=0)


def _padded(tokens: Tensor, labels: Tensor) -> Batch:
    return Batch(tokens, labels, tokens != PADDING)
