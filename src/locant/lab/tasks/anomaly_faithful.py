"""Anomaly, as published: reproduce windows of one seasonal series and call a fault what was
reproduced badly.

The protocol is followed to the letter, its flaws included: nothing is hidden, so a model may copy;
one training series; the best weights are chosen on the test windows; the threshold comes from the
test scores; and every point counts once for each of the up to 100 windows that hold it. The series
are the published ones, number for number: numpy's legacy generator draws them, feature after
feature.
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
from locant.lab.tasks._seasonal_series import (
    COLLECTIVE,
    CONTEXTUAL,
    FEATURES,
    KINDS,
    PERIODS,
    POINT,
    windows,
)
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores

TRAIN, TEST, FAULTS = 10_000, 2_000, 100
TRAIN_SEED, TEST_SEED, FAULT_SEED = 42, 43, 44
STRIDE = 50
BATCH = 32  # windows in a batch of validation; each batch has the same weight
LEAD = 504  # clean points before the test series, for the baselines that need them: not published
FLAGGED = 0.95  # scores above this quantile of all scores are called faults
SHUFFLED_BATCHES = 10


class Published(NamedTuple):
    """The published data.

    train  training windows (N,T,F)
    clean  the test series (T,F) without faults
    test   the test series (T,F) with faults
    lead   clean points (LEAD,F) before the test series
    kinds  the kind of fault of each test point (T,); 0 is none
    """

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
    selection_metric = "loss"
    selects_higher = False
    chance = 0.05
    threshold = 0.5
    oracles: tuple[str, ...] = ()

    @property
    def max_length(self) -> int:
        return self.length

    @property
    def baselines(self) -> tuple[str, ...]:
        return tuple(names())

    def ceilings(self) -> Scores:
        return {}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        """Draw a batch of an epoch; every epoch has an order of its own, and an incomplete batch is
        dropped."""
        train = _data(self.length).train
        epoch, number = divmod(step, len(train) // count)
        order = np.random.default_rng(stable_seed("epoch", seed, epoch)).permutation(len(train))
        return _reconstruction_batch(train[order[number * count : (number + 1) * count]])

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return mse_loss(output, target)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        """Compute the loss on the test windows as published: the mean of batches, the last of which
        is smaller."""
        errors = self._errors(predict, _data(self.length).test)
        batches = [errors[start : start + BATCH] for start in range(0, len(errors), BATCH)]
        return {"loss": float(np.mean([batch.mean() for batch in batches]))}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        data = _data(self.length)
        errors = self._errors(predict, data.test)  # (windows, length)
        kinds = windows(data.kinds[:, None], self.length, 1)[0][..., 0]
        threshold = float(np.quantile(errors, FLAGGED))
        scores = _detection_scores(errors.ravel(), kinds.ravel(), threshold)
        clean_threshold = float(np.quantile(self._errors(predict, data.clean), FLAGGED))
        counts = confusion(kinds.ravel() > 0, errors.ravel() > clean_threshold)
        scores["F1, threshold from clean data"] = counts.f1
        scores["change when shuffled"] = self._shuffling_change(predict, seed)
        diagonals = [
            np.diagonal(errors[:, ::-1], offset) for offset in _step_diagonals(*errors.shape)
        ]
        columns: dict[str, list[Any]] = {
            "step": list(range(TEST)),
            "score": [float(diagonal.mean()) for diagonal in diagonals],
            "kind": data.kinds.tolist(),
        }
        return Evaluation(scores, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        """Score each point once, and call the top twentieth faults."""
        data = _data(self.length)
        mean, size = data.lead.mean(0), data.lead.std(0)
        scores = load(name).score((data.lead - mean) / size, (data.test - mean) / size)
        return _detection_scores(scores, data.kinds, float(np.quantile(scores, FLAGGED)))

    def example(self, seed: int) -> Batch:
        return _reconstruction_batch(_data(self.length).test[None, : self.length])

    def _errors(self, predict: Predict, series: np.ndarray) -> np.ndarray:
        """Compute the squared error of every step of every window, averaged over features:
        (windows, length)."""
        batch = _reconstruction_batch(windows(series, self.length, 1)[0])
        return (predict(batch.inputs, None) - batch.target).square().mean(-1).double().numpy()

    def _shuffling_change(self, predict: Predict, seed: int) -> float:
        """Measure the largest change of an answer when a window is shuffled and the answer put
        back, over batches."""
        shown = windows(_data(self.length).test, self.length, 1)[0]
        inputs = _reconstruction_batch(shown[: SHUFFLED_BATCHES * BATCH]).inputs
        draw = np.random.default_rng(stable_seed("shuffle", seed))
        largest = []
        for batch in inputs.split(BATCH):
            order = torch.from_numpy(draw.permutation(self.length))
            back = predict(batch[:, order], None)[:, order.argsort()]
            largest.append((back - predict(batch, None)).abs().max().item())
        return float(np.mean(largest))


def _detection_scores(scores: np.ndarray, kinds: np.ndarray, threshold: float) -> Scores:
    """Measure how well scores (N,) find the faults `kinds` (N,)."""
    flagged = scores > threshold
    counts = confusion(kinds > 0, flagged)
    either = (kinds == 0) | (kinds == CONTEXTUAL)
    recall_by_kind = {
        f"recall, {kind}": float(flagged[kinds == number].mean()) for kind, number in KINDS.items()
    }
    return {
        "F1": counts.f1,
        "AUC": auc_roc(kinds > 0, scores),
        "precision": counts.precision,
        "recall": counts.recall,
        "contextual AUC": auc_roc(kinds[either] == CONTEXTUAL, scores[either]),
        **recall_by_kind,
    }


def _step_diagonals(count: int, length: int) -> range:
    """List the diagonals of a matrix of windows, flipped left to right, that hold one time step
    after another."""
    return range(length - 1, -count, -1)


@lru_cache(maxsize=2)
def _data(length: int) -> Published:
    train = _seasonal(TRAIN, TRAIN_SEED)[LEAD:]
    test = _seasonal(TEST, TEST_SEED)
    lead, clean = test[:LEAD], test[LEAD:]
    faulty, kinds = _inject(clean, FAULT_SEED)
    shown, _ = windows(train, length, STRIDE)
    return Published(shown.astype(np.float32), clean, faulty, lead, kinds)


def _seasonal(length: int, seed: int) -> np.ndarray:
    """Draw a published series, with LEAD points before its beginning: (LEAD + length, F)."""
    published = np.random.RandomState(seed)
    before = np.random.default_rng(stable_seed("lead", seed))
    t = np.arange(-LEAD, length)
    features = []
    for _ in range(FEATURES):
        values = np.zeros(len(t))
        for period in PERIODS:
            amplitude = published.uniform(0.5, 2)
            phase = published.uniform(0, 2 * math.pi)
            values += amplitude * np.sin(2 * math.pi * t / period + phase)
        values += published.uniform(-0.001, 0.001) * t
        values += np.concatenate([before.normal(0, 0.1, LEAD), published.normal(0, 0.1, length)])
        features.append(values)
    return np.stack(features, 1)


def _inject(values: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Put the published faults into a series (T,F) and return it with the kind of fault of each
    point (T,).

    No two faults of a kind begin at the same step.
    """
    draw = np.random.RandomState(seed)
    length = len(values)
    size = values.std(0)
    out = values.copy()
    kinds = np.zeros(length, int)
    for t in draw.choice(length, FAULTS // 5, replace=False):
        f, sign = draw.randint(FEATURES), draw.choice([-1, 1])
        out[t, f] += sign * draw.uniform(3, 5) * size[f]
        kinds[t] = POINT
    for t in draw.choice(length - 50, 3 * FAULTS // 5, replace=False):
        later, f = draw.randint(20, 50), draw.randint(FEATURES)
        out[t, f] = values[t + later, f]
        kinds[t] = CONTEXTUAL
    for t in draw.choice(length - 10, FAULTS // 25, replace=False):
        span, f = draw.randint(5, 10), draw.randint(FEATURES)
        out[t : t + span, f] += draw.uniform(2, 4) * size[f]
        kinds[t : t + span] = COLLECTIVE
    return out, kinds


def _reconstruction_batch(values: np.ndarray) -> Batch:
    """Make a batch whose target is its input."""
    inputs = torch.from_numpy(np.ascontiguousarray(values)).float()
    return Batch(inputs, inputs)
