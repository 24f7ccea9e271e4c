"""Anomaly, as published: reproduce windows of one seasonal series and call a fault what was reproduced badly.

The protocol is followed to the letter, its flaws included: nothing is hidden, so a model may copy; one training series;
the best weights are chosen on the test windows; the threshold comes from the test scores; and every point counts once
for each of the up to 100 windows that it lies in. The series are the published ones, number for number: numpy's legacy
generator draws them, feature after feature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from locant._internal.seeds import stable_seed
from locant.anomaly.baselines import load, names
from locant.anomaly.metrics.auc_roc import auc_roc
from locant.anomaly.metrics.confusion import confusion
from locant.lab.tasks._series import (
    COLLECTIVE,
    CONTEXTUAL,
    FEATURES,
    KINDS,
    PERIODS,
    POINT,
    windows,
)
from locant.lab.tasks.base import Batch, Predict, Scores, Tested

TRAIN, TEST, FAULTS = 10_000, 2_000, 100
TRAIN_SEED, TEST_SEED, FAULT_SEED = 42, 43, 44
STRIDE = 50
BATCH = 32  # windows at once in validation, each batch with the same weight
LEAD = 504  # a clean stretch before the test series, for the plain methods that need one: not published
FLAGGED = 0.95  # scores above this share of all scores are called faults
SHUFFLED = 10  # batches


class Published(NamedTuple):
    """Training windows (N,T,F); the test series (T,F) without and with faults, the stretch before it, kinds of fault (T)."""

    train: np.ndarray
    clean: np.ndarray
    test: np.ndarray
    lead: np.ndarray
    kinds: np.ndarray


@dataclass(frozen=True)
class AnomalyFaithful:
    """Windows of 100 steps of five features; the same data for every seed.

    >>> AnomalyFaithful().batch(32, seed=42, step=0).inputs.shape
    torch.Size([32, 100, 5])
    """

    length: int = 100

    symbols = 0
    features = FEATURES
    outputs = FEATURES
    pool = False
    causal = False
    metric = "F1"
    higher_is_better = True
    tested_on = "the test windows that chose the weights"
    chooses = "loss"
    chooses_higher = False
    chance = 0.05
    threshold = 0.5
    oracles: tuple[str, ...] = ()

    @property
    def reach(self) -> int:
        return self.length

    @property
    def baselines(self) -> tuple[str, ...]:
        return tuple(names())

    def ceilings(self) -> Scores:
        return {}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        """Epochs in a new order each; what does not fill a batch is dropped."""
        train = _data(self.length).train
        epoch, place = divmod(step, len(train) // count)
        order = np.random.default_rng(stable_seed("epoch", seed, epoch)).permutation(len(train))
        return _copied(train[order[place * count : (place + 1) * count]])

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return mse_loss(output, target)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        """The loss on the test windows as published: the mean of batches, of which the last is smaller."""
        errors = self._errors(predict, _data(self.length).test)
        return {
            "loss": float(
                np.mean([errors[at : at + BATCH].mean() for at in range(0, len(errors), BATCH)])
            )
        }

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        data = _data(self.length)
        errors = self._errors(predict, data.test)  # (windows, length)
        kinds = windows(data.kinds[:, None], self.length, 1)[0][..., 0]
        scores = _told(errors.ravel(), kinds.ravel(), float(np.quantile(errors, FLAGGED)))
        clean = float(np.quantile(self._errors(predict, data.clean), FLAGGED))
        at = confusion(kinds.ravel() > 0, errors.ravel() > clean)
        scores |= {
            "F1, threshold from clean data": at.f1,
            "change when shuffled": self._shuffled(predict, seed),
        }
        mean = [
            float(np.diagonal(errors[:, ::-1], offset).mean())
            for offset in _diagonals(*errors.shape)
        ]
        columns: dict[str, list[Any]] = {
            "step": list(range(TEST)),
            "score": mean,
            "kind": data.kinds.tolist(),
        }
        return Tested(scores, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        """Each point once, the top twentieth called faults."""
        data = _data(self.length)
        mean, size = data.lead.mean(0), data.lead.std(0)
        scores = load(name).score((data.lead - mean) / size, (data.test - mean) / size)
        return _told(scores, data.kinds, float(np.quantile(scores, FLAGGED)))

    def example(self, seed: int) -> Batch:
        return _copied(_data(self.length).test[None, : self.length])

    def _errors(self, predict: Predict, series: np.ndarray) -> np.ndarray:
        """The squared error of every step of every window, averaged over features."""
        rows = _copied(windows(series, self.length, 1)[0])
        return (predict(rows.inputs, None) - rows.target).square().mean(-1).double().numpy()

    def _shuffled(self, predict: Predict, seed: int) -> float:
        """The largest change of an answer when a window is shuffled and the answer put back, averaged over batches."""
        rows = _copied(
            windows(_data(self.length).test, self.length, 1)[0][: SHUFFLED * BATCH]
        ).inputs
        draw = np.random.default_rng(stable_seed("shuffle", seed))
        largest = []
        for part in rows.split(BATCH):
            order = torch.from_numpy(draw.permutation(self.length))
            back = predict(part[:, order], None)[:, order.argsort()]
            largest.append((back - predict(part, None)).abs().max().item())
        return float(np.mean(largest))


def _told(scores: np.ndarray, kinds: np.ndarray, threshold: float) -> Scores:
    flagged = scores > threshold
    at = confusion(kinds > 0, flagged)
    either = (kinds == 0) | (kinds == CONTEXTUAL)
    return {
        "F1": at.f1,
        "AUC": auc_roc(kinds > 0, scores),
        "precision": at.precision,
        "recall": at.recall,
        "contextual AUC": auc_roc(kinds[either] == CONTEXTUAL, scores[either]),
        **{
            f"recall, {kind}": float(flagged[kinds == number].mean())
            for kind, number in KINDS.items()
        },
    }


def _diagonals(count: int, length: int) -> range:
    """The offsets at which a matrix of windows, turned left to right, has the errors of one step after another."""
    return range(length - 1, -count, -1)


@lru_cache(maxsize=2)
def _data(length: int) -> Published:
    train, test = _seasonal(TRAIN, TRAIN_SEED)[LEAD:], _seasonal(TEST, TEST_SEED)
    lead, clean = test[:LEAD], test[LEAD:]
    faulty, kinds = _inject(clean, FAULT_SEED)
    shown, _ = windows(train, length, STRIDE)
    return Published(shown.astype(np.float32), clean, faulty, lead, kinds)


def _seasonal(length: int, seed: int) -> np.ndarray:
    """A published series, with LEAD points before its beginning (LEAD + length, F)."""
    published, before = (
        np.random.RandomState(seed),
        np.random.default_rng(stable_seed("lead", seed)),
    )
    t = np.arange(-LEAD, length)
    features = []
    for _ in range(FEATURES):
        values = np.zeros(len(t))
        for period in PERIODS:
            amplitude, phase = published.uniform(0.5, 2), published.uniform(0, 2 * math.pi)
            values += amplitude * np.sin(2 * math.pi * t / period + phase)
        values += published.uniform(-0.001, 0.001) * t
        values += np.concatenate([before.normal(0, 0.1, LEAD), published.normal(0, 0.1, length)])
        features.append(values)
    return np.stack(features, 1)


def _inject(values: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The series with the published faults, and kinds (T). No two faults of a kind begin at the same step."""
    draw = np.random.RandomState(seed)
    length, size = len(values), values.std(0)
    out, kinds = values.copy(), np.zeros(length, int)
    for at in draw.choice(length, FAULTS // 5, replace=False):
        f, sign = draw.randint(FEATURES), draw.choice([-1, 1])
        out[at, f] += sign * draw.uniform(3, 5) * size[f]
        kinds[at] = POINT
    for at in draw.choice(length - 50, 3 * FAULTS // 5, replace=False):
        later, f = draw.randint(20, 50), draw.randint(FEATURES)
        out[at, f] = values[at + later, f]
        kinds[at] = CONTEXTUAL
    for at in draw.choice(length - 10, FAULTS // 25, replace=False):
        span, f = draw.randint(5, 10), draw.randint(FEATURES)
        out[at : at + span, f] += draw.uniform(2, 4) * size[f]
        kinds[at : at + span] = COLLECTIVE
    return out, kinds


def _copied(values: np.ndarray) -> Batch:
    """What goes in is what should come out."""
    inputs = torch.from_numpy(np.ascontiguousarray(values)).float()
    return Batch(inputs, inputs)
