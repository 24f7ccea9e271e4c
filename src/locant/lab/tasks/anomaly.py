"""Anomaly: hide points of a seasonal series, predict them from the rest, and call a fault what was
predicted badly.

Whole time steps are hidden, so a model without positions gives the same answer at every hidden step
of a window. Every training series has its own amplitudes, phases and trend, so the answer must come
from the window. With `masked` off the model sees what it is to reproduce; with `series` at 1 it may
learn one series by heart. Both make positions useless.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from locant._internal.checks import whole_number
from locant._internal.seeds import stable_seed
from locant.anomaly.baselines import load, names
from locant.lab.tasks import UNSEEN
from locant.lab.tasks._fault_metrics import ScoredSeries, fault_metrics, mean_average_precision
from locant.lab.tasks._seasonal_series import (
    FEATURES,
    FaultySeries,
    faulty_series,
    training_series,
    windows,
)
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores

GROUPS = 4  # complementary masks: each point of a window is hidden by exactly one of them
SPAN = 8  # neighboring steps that are hidden together in every second batch
STRIDE = 24
HIDE_ABOVE = (
    0.995  # points above this quantile of the lead-in's scores are hidden in the second pass
)


@dataclass(frozen=True)
class Anomaly:
    """Windows of `length` steps from `series` training series; test series have a clean lead-in and
    then `faults`.

    The last feature of an input says whether its step is hidden.

    >>> Anomaly().batch(2, seed=0, step=0).inputs.shape
    torch.Size([2, 96, 6])
    """

    length: int = 96
    series: int = 256
    series_length: int = 1024
    masked: bool = True
    lead: int = 504
    tested: int = 1000
    faults: int = 50

    symbols = 0
    features = FEATURES + 1
    outputs = FEATURES
    pool = False
    causal = False
    metric = "average precision"
    higher_is_better = True
    tested_on = UNSEEN
    selection_metric = "average precision"
    selects_higher = True
    threshold = 0.8
    oracles = ("oracle",)

    def __post_init__(self) -> None:
        longest = max(self.length, self.lead)
        whole_number("anomaly", "length", self.length, least=GROUPS * SPAN)
        whole_number("anomaly", "series", self.series)
        whole_number("anomaly", "series_length", self.series_length, least=longest + 1)
        whole_number("anomaly", "lead", self.lead, least=self.length)
        whole_number("anomaly", "tested", self.tested, least=2 * self.length)
        whole_number("anomaly", "faults", self.faults, least=25)

    @property
    def max_length(self) -> int:
        return self.length

    @property
    def chance(self) -> float:
        """The share of points with a fault, which random scores reach on average."""
        expected = self.faults // 5 + 3 * self.faults // 5 + 7 * (self.faults // 25)
        return round(1 - math.exp(-expected / self.tested), 3)

    @property
    def baselines(self) -> tuple[str, ...]:
        return ("oracle", *names())

    def ceilings(self) -> Scores:
        """Return no ceiling: none is known in closed form. The row `none` shows what a model
        without positions gets."""
        return {}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        pool = training_series(self.series, self.series_length, self.lead, seed)
        draw = np.random.default_rng(stable_seed("windows", seed, step))
        which = draw.integers(len(pool), size=count)
        start = draw.integers(self.series_length - self.length, size=count)
        values = pool[which[:, None], start[:, None] + np.arange(self.length)]  # (B, T, F)
        if not self.masked:
            nothing = np.zeros((count, self.length), bool)
            return _masked_batch(values, nothing, ~nothing)
        hide = _hide_points if step % 2 == 0 else _hide_spans
        hidden = hide(count, self.length, draw)
        return _masked_batch(values, hidden, hidden)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Compute the mean squared error of the steps in the loss mask, the last feature of the
        target."""
        values, loss_mask = target[..., :-1], target[..., -1:]
        return ((output - values).square() * loss_mask).sum() / (loss_mask.sum() * FEATURES)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        series = self._faulty_series(count, seed, "validation")
        scored = self._scored_series(predict, series, seed)
        return {"average precision": mean_average_precision(scored)}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        series = self._faulty_series(count, seed, "test")
        scored = self._scored_series(predict, series, seed)
        columns: dict[str, list[object]] = {"series": [], "step": [], "score": [], "kind": []}
        for number, one in enumerate(scored):
            columns["series"] += [number] * self.tested
            columns["step"] += list(range(self.lead, self.lead + self.tested))
            columns["score"] += one.scores.tolist()
            columns["kind"] += one.kinds.tolist()
        changes = self._reordering_changes(predict, series[0].values, seed)
        return Evaluation({**fault_metrics(scored), **changes}, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        scored = []
        for values, clean, kinds in self._faulty_series(count, seed, "test"):
            lead, rest = values[: self.lead], values[self.lead :]
            if name == "oracle":
                deviation = np.abs(values - clean).max(1)
                lead_scores, scores = deviation[: self.lead], deviation[self.lead :]
            else:
                score, half = load(name).score, self.lead // 2
                lead_scores, scores = score(lead[:half], lead[half:]), score(lead, rest)
            scored.append(ScoredSeries(lead_scores, scores, kinds))
        return fault_metrics(scored)

    def example(self, seed: int) -> Batch:
        (one,) = self._faulty_series(1, seed, "example")
        draw = np.random.default_rng(stable_seed("example", seed))
        loss_mask = _hide_points(1, self.length, draw)
        values = one.values[None, self.lead : self.lead + self.length]
        hidden = loss_mask if self.masked else np.zeros_like(loss_mask)
        return _masked_batch(values, hidden, loss_mask)

    def _faulty_series(self, count: int, seed: int, purpose: str) -> list[FaultySeries]:
        return faulty_series(self.lead, self.tested, self.faults, count, seed, purpose)

    def _scored_series(
        self, predict: Predict, series: list[FaultySeries], seed: int
    ) -> list[ScoredSeries]:
        """Score every point; a masked model scores twice, the second time without what looked wrong
        in the first."""
        values = [one.values for one in series]
        hide = [np.zeros(len(one), bool) for one in values]
        scores = self._scores(predict, values, hide, seed)
        if self.masked:
            hide = [score > np.quantile(score[: self.lead], HIDE_ABOVE) for score in scores]
            scores = self._scores(predict, values, hide, seed)
        return [
            ScoredSeries(score[: self.lead], score[self.lead :], one.kinds)
            for score, one in zip(scores, series, strict=True)
        ]

    def _scores(
        self, predict: Predict, values: list[np.ndarray], hide: list[np.ndarray], seed: int
    ) -> list[np.ndarray]:
        """Score the points of series (T,F): the largest deviation over features, in units of the
        lead-in's, (T,)."""
        draw = np.random.default_rng(stable_seed("masks", seed))
        inputs, groups, starts = [], [], []
        for series, hidden in zip(values, hide, strict=True):
            shown, start = windows(series, self.length, STRIDE)
            covered = hidden[start[:, None] + np.arange(self.length)]  # (N, length)
            group = np.tile(np.arange(self.length) % GROUPS, (len(start), 1))
            group = draw.permuted(group, axis=1)
            groups.append(group)
            starts.append(start)
            for number in range(GROUPS):
                mask = (group == number) | covered if self.masked else np.zeros_like(covered)
                inputs.append(_masked_batch(shown, mask, mask).inputs)
        output = predict(torch.cat(inputs), None).double().numpy()
        scores, first = [], 0
        for series, group, start in zip(values, groups, starts, strict=True):
            count = len(start)
            some = output[first : first + GROUPS * count]
            first += GROUPS * count
            by_mask = some.reshape(GROUPS, count, self.length, FEATURES)
            # Each point is predicted by the mask that hides it: (N, length, F).
            predicted = np.take_along_axis(by_mask, group[None, ..., None], 0)[0]
            scores.append(self._combined(series, predicted, start))
        return scores

    def _combined(self, series: np.ndarray, predicted: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Take the median deviation over windows, in units of the lead-in's, and the largest over
        features: (T,)."""
        points = start[:, None] + np.arange(self.length)  # (N, length)
        deviation = np.abs(series[points] - predicted)
        layer = np.arange(len(start)) % (self.length // STRIDE + 1)  # overlapping windows differ
        table = np.full((layer.max() + 1, *series.shape), np.nan)
        table[layer[:, None], points] = deviation
        median = np.nanmedian(table, 0)  # (T, F)
        return (median / median[: self.lead].std(0)).max(1)

    def _reordering_changes(self, predict: Predict, values: np.ndarray, seed: int) -> Scores:
        """Measure how much answers change when a window is shuffled, or mirrored, and the answers
        are put back."""
        draw = np.random.default_rng(stable_seed("turned", seed))
        shown, _ = windows(values, self.length, self.length)
        hidden = _hide_points(len(shown), self.length, draw) & self.masked
        inputs = _masked_batch(shown, hidden, hidden).inputs
        plain = predict(inputs, None)
        orders = {
            "shuffled": draw.permutation(self.length),
            "mirrored": np.arange(self.length)[::-1],
        }
        changes = {}
        for name, order in orders.items():
            index = torch.from_numpy(order.copy())
            back = predict(inputs[:, index], None)[:, index.argsort()]
            changes[f"change when {name}"] = (back - plain).abs().amax((1, 2)).mean().item()
        return changes


def _masked_batch(values: np.ndarray, hidden: np.ndarray, loss_mask: np.ndarray) -> Batch:
    """Blank the hidden steps (B,T) of values (B,T,F) and mark them; mark the steps of the loss in
    the target."""
    shown = np.concatenate([np.where(hidden[..., None], 0.0, values), hidden[..., None]], -1)
    target = np.concatenate([values, loss_mask[..., None]], -1)
    return Batch(torch.from_numpy(shown).float(), torch.from_numpy(target).float())


def _hide_points(count: int, length: int, draw: np.random.Generator) -> np.ndarray:
    """Hide a quarter of the steps, anywhere: (count, length)."""
    return draw.random((count, length)).argsort(1) < length // GROUPS


def _hide_spans(count: int, length: int, draw: np.random.Generator) -> np.ndarray:
    """Hide about a quarter of the steps, in spans of eight: (count, length)."""
    starts = draw.integers(length - SPAN + 1, size=(count, length // GROUPS // SPAN, 1))
    hidden = np.zeros((count, length), bool)
    for offset in range(SPAN):
        np.put_along_axis(hidden, starts[..., 0] + offset, True, 1)
    return hidden
