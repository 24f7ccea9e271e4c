"""Slots, as published: which of three patterns of two values at two positions does a row hold?

The protocol is followed to the letter, its flaws included: writing a pattern in raises the counts
of its tokens, so a model without positions is right far more often than one in three; token 0 is
taken for padding; and the reported accuracy is that of the validation rows that chose the weights.
The rows are the published ones, number for number: numpy's legacy generator draws them, class after
class, and torch's shuffles them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from locant._internal.seeds import stable_seed
from locant.lab.tasks._token_task import linear_baseline
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores

PATTERNS = (  # (position, token) twice for each class
    ((3, 5), (7, 8)),
    ((5, 3), (10, 9)),
    ((15, 7), (20, 4)),
)
LENGTH, SYMBOLS, CLASSES = 32, 20, len(PATTERNS)
SIZES = {"train": 5_000, "validation": 1_000, "demo": 100}
SEEDS = {  # the first three are the published ones
    "train": 42,
    "validation": 43,
    "demo": 44,
    "unseen": 45,
    "ceiling": 46,
}
PADDING = 0  # an ordinary token that is taken for padding
CEILING_ROWS = 100_000  # rows from which the ceiling is estimated


@dataclass(frozen=True)
class SlotsFaithful:
    """Rows of 32 tokens out of 20; the same data for every seed.

    >>> rows = SlotsFaithful().batch(32, seed=0, step=0)
    >>> rows.inputs.shape, bool((rows.padding_mask == (rows.inputs != 0)).all())
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
    selection_metric = "accuracy"
    selects_higher = True
    chance = 1 / CLASSES
    threshold = 0.9
    oracles: tuple[str, ...] = ()
    baselines = ("token counts", "token × place")

    @property
    def max_length(self) -> int:
        return self.length

    def ceilings(self) -> Scores:
        """Estimate the best accuracy without positions.

        The likeliest class is then the one whose two tokens have the largest product of counts.
        """
        rows = draw_rows(CEILING_ROWS, "ceiling")
        counts = one_hot(rows.inputs, SYMBOLS).sum(1)  # (N, SYMBOLS)
        products = [counts[:, a] * counts[:, b] for (_, a), (_, b) in PATTERNS]
        right = torch.stack(products, 1).argmax(1) == rows.target
        return {"without positions": round(right.double().mean().item(), 3)}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        """Draw a batch of an epoch; every epoch has an order of its own, and its last batch may be
        smaller."""
        rows = draw_rows(SIZES["train"], "train")
        total = len(rows.inputs)
        epoch, number = divmod(step, -(-total // count))
        order = np.random.default_rng(stable_seed("epoch", seed, epoch)).permutation(total)
        chosen = torch.from_numpy(order[number * count : (number + 1) * count])
        return _with_padding_mask(rows.inputs[chosen], rows.target[chosen])

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output, target)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = draw_rows(SIZES["validation"], "validation")
        output = predict(rows.inputs, rows.padding_mask)
        right = (output.argmax(-1) == rows.target).double().mean().item()
        return {"accuracy": right, "loss": cross_entropy(output, rows.target).item()}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Compute the published accuracy (of the rows that chose the weights), and that of unseen
        rows."""
        rows = draw_rows(count, "unseen")
        output = predict(rows.inputs, rows.padding_mask)
        unseen = (output.argmax(-1) == rows.target).double().mean().item()
        columns: dict[str, list[Any]] = {
            "target": rows.target.tolist(),
            "answer": output.argmax(-1).tolist(),
        }
        published = self.validate(predict, count, seed)
        return Evaluation({**published, "accuracy, unseen rows": unseen}, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        train = draw_rows(SIZES["train"], "train")
        validation = draw_rows(SIZES["validation"], "validation")
        return linear_baseline(name, train, validation, CLASSES)

    def example(self, seed: int) -> Batch:
        rows = draw_rows(SIZES["demo"], "demo")
        return _with_padding_mask(rows.inputs[:1], rows.target[:1])


@lru_cache(maxsize=8)
def draw_rows(count: int, purpose: str) -> Batch:
    """Draw a data set in a random order, a third of each class (the last class has up to two rows
    fewer)."""
    seed = SEEDS[purpose]
    each = -(-count // CLASSES)
    draw = np.random.RandomState(seed)
    tokens = np.concatenate([_class_rows(label, each, draw) for label in range(CLASSES)])[:count]
    labels = np.arange(CLASSES).repeat(each)[:count]
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return _with_padding_mask(torch.from_numpy(tokens)[order], torch.from_numpy(labels)[order])


def write_csv(path: Path, rows: Batch) -> None:
    """Write one line a row: a column for each position, then the label."""
    header = [f"place_{pos}" for pos in range(rows.inputs.shape[1])]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*header, "label"])
        for tokens, label in zip(rows.inputs.tolist(), rows.target.tolist(), strict=True):
            writer.writerow([*tokens, label])


def _class_rows(label: int, count: int, draw: np.random.RandomState) -> np.ndarray:
    """Draw random rows with the pattern of a class written in, but none that holds another class's
    by chance."""
    kept = np.empty((0, LENGTH), int)
    while len(kept) < count:
        tokens = draw.randint(0, SYMBOLS, (count - len(kept), LENGTH))
        kept = np.concatenate([kept, tokens[_holds(tokens, label) | ~_holds_any(tokens)]])
    for pos, token in PATTERNS[label]:
        kept[:, pos] = token
    return kept


def _holds(tokens: np.ndarray, label: int) -> np.ndarray:
    """Say which rows match the pattern of a class."""
    return np.all([tokens[:, pos] == token for pos, token in PATTERNS[label]], axis=0)


def _holds_any(tokens: np.ndarray) -> np.ndarray:
    return np.any([_holds(tokens, label) for label in range(CLASSES)], axis=0)


def _with_padding_mask(tokens: Tensor, labels: Tensor) -> Batch:
    return Batch(tokens, labels, tokens != PADDING)
