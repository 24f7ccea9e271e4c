"""Anomaly: hide points of a seasonal series, predict them from the rest, and call a fault what was predicted badly.

Whole time steps are hidden, so a model without positions gives the same answer at every hidden step of a window. Every
training series has its own amplitudes, phases and trend, so the answer must come from the window. With `masked` off the
model sees what it is to reproduce; with `series` at 1 it may learn one series by heart. Both make positions useless.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from locant._internal.checks import whole_number
from locant._internal.seeds import stable_seed
from locant.anomaly.baselines import load, names
from locant.lab.tasks import UNSEEN
from locant.lab.tasks._judged import Judged, average_precision_of, judge
from locant.lab.tasks._series import FEATURES, inject, seasonal, windows
from locant.lab.tasks.base import Batch, Predict, Scores, Tested

GROUPS = 4  # complementary masks: each point of a window is hidden by exactly one
SPAN = 8
STRIDE = 24
HIDE_ABOVE = 0.995  # points above this share of the lead-in's scores are hidden from their neighbours' second judgement


@dataclass(frozen=True)
class Anomaly:
    """Windows of `length` steps from `series` training series; test series have a clean lead-in and then `faults`.

    >>> Anomaly().batch(2, seed=0, step=0).inputs.shape  # the last number of a step says whether it is hidden
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
    chooses = "average precision"
    chooses_higher = True
    threshold = 0.8
    oracles = ("oracle",)

    def __post_init__(self) -> None:
        whole_number("anomaly", "length", self.length, least=GROUPS * SPAN)
        whole_number("anomaly", "series", self.series)
        whole_number(
            "anomaly", "series_length", self.series_length, least=max(self.length, self.lead) + 1
        )
        whole_number("anomaly", "lead", self.lead, least=self.length)
        whole_number("anomaly", "tested", self.tested, least=2 * self.length)
        whole_number("anomaly", "faults", self.faults, least=25)

    @property
    def reach(self) -> int:
        return self.length

    @property
    def chance(self) -> float:
        """The share of points with a fault, which a random order reaches on average."""
        expected = self.faults // 5 + 3 * self.faults // 5 + 7 * (self.faults // 25)
        return round(1 - math.exp(-expected / self.tested), 3)

    @property
    def baselines(self) -> tuple[str, ...]:
        return ("oracle", *names())

    def ceilings(self) -> Scores:
        """None is known in closed form: the row `none` shows what is reached without positions."""
        return {}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        pool = _training_pool(self.series, self.series_length, self.lead, seed)
        draw = np.random.default_rng(stable_seed("windows", seed, step))
        which, start = (
            draw.integers(len(pool), size=count),
            draw.integers(self.series_length - self.length, size=count),
        )
        values = pool[which[:, None], start[:, None] + np.arange(self.length)]  # (B, T, F)
        if not self.masked:
            return _asked(
                values, np.zeros((count, self.length), bool), np.ones((count, self.length), bool)
            )
        hidden = (_points, _spans)[step % 2](count, self.length, draw)
        return _asked(values, hidden, hidden)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """The mean squared error of the steps that are asked."""
        wanted, asked = target[..., :-1], target[..., -1:]
        return ((output - wanted).square() * asked).sum() / (asked.sum() * FEATURES)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        series = self._faulty(count, seed, "validation")
        return {"average precision": average_precision_of(self._judged(predict, series, seed))}

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        series = self._faulty(count, seed, "test")
        judged = self._judged(predict, series, seed)
        columns: dict[str, list[object]] = {"series": [], "step": [], "score": [], "kind": []}
        for number, one in enumerate(judged):
            columns["series"] += [number] * self.tested
            columns["step"] += list(range(self.lead, self.lead + self.tested))
            columns["score"] += one.scores.tolist()
            columns["kind"] += one.kinds.tolist()
        return Tested({**judge(judged), **self._turned(predict, series[0].values, seed)}, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        judged = []
        for values, clean, kinds in self._faulty(count, seed, "test"):
            lead, rest = values[: self.lead], values[self.lead :]
            if name == "oracle":
                away = np.abs(values - clean).max(1)
                judged.append(Judged(away[: self.lead], away[self.lead :], kinds))
                continue
            score, half = load(name).score, self.lead // 2
            judged.append(Judged(score(lead[:half], lead[half:]), score(lead, rest), kinds))
        return judge(judged)

    def example(self, seed: int) -> Batch:
        (one,) = self._faulty(1, seed, "example")
        hidden = _points(1, self.length, np.random.default_rng(stable_seed("example", seed)))
        values = one.values[None, self.lead : self.lead + self.length]
        return _asked(values, hidden if self.masked else np.zeros_like(hidden), hidden)

    def _faulty(self, count: int, seed: int, purpose: str) -> list[_Normal]:
        return _faulty(self.lead, self.tested, self.faults, count, seed, purpose)

    def _judged(self, predict: Predict, series: list[_Normal], seed: int) -> list[Judged]:
        """Scores of every point; masked models judge twice, the second time without what looked wrong in the first."""
        values = [one.values for one in series]
        hide = [np.zeros(len(one), bool) for one in values]
        scores = self._scores(predict, values, hide, seed)
        if self.masked:
            hide = [score > np.quantile(score[: self.lead], HIDE_ABOVE) for score in scores]
            scores = self._scores(predict, values, hide, seed)
        pairs = zip(scores, series, strict=True)
        return [Judged(score[: self.lead], score[self.lead :], one.kinds) for score, one in pairs]

    def _scores(
        self, predict: Predict, values: list[np.ndarray], hide: list[np.ndarray], seed: int
    ) -> list[np.ndarray]:
        """For every series (T,F) the largest deviation over features, in units of the lead-in's: (T)."""
        draw = np.random.default_rng(stable_seed("masks", seed))
        inputs, groups, starts = [], [], []
        for series, hidden in zip(values, hide, strict=True):
            shown, start = windows(series, self.length, STRIDE)
            cover = hidden[start[:, None] + np.arange(self.length)]
            group = draw.permuted(np.tile(np.arange(self.length) % GROUPS, (len(start), 1)), axis=1)
            groups.append(group)
            starts.append(start)
            for number in range(GROUPS):
                mask = (group == number) | cover if self.masked else np.zeros_like(cover)
                inputs.append(_asked(shown, mask, mask).inputs)
        output = predict(torch.cat(inputs), None).double().numpy()
        scores, at = [], 0
        for series, group, start in zip(values, groups, starts, strict=True):
            count = len(start)
            answers = output[at : at + GROUPS * count].reshape(GROUPS, count, self.length, FEATURES)
            at += GROUPS * count
            answer = np.take_along_axis(answers, group[None, ..., None], 0)[
                0
            ]  # by the mask that hides the point
            scores.append(self._combined(series, answer, start))
        return scores

    def _combined(self, series: np.ndarray, answer: np.ndarray, start: np.ndarray) -> np.ndarray:
        """The median deviation over windows, each feature in units of its lead-in, and the largest over features."""
        where = start[:, None] + np.arange(self.length)  # (N, length)
        away = np.abs(series[where] - answer)
        turn = np.arange(len(start)) % (
            self.length // STRIDE + 1
        )  # windows that overlap get different turns
        table = np.full((turn.max() + 1, *series.shape), np.nan)
        table[turn[:, None], where] = away
        middle = np.nanmedian(table, 0)  # (T, F)
        return (middle / middle[: self.lead].std(0)).max(1)

    def _turned(self, predict: Predict, values: np.ndarray, seed: int) -> Scores:
        """By how much answers change when a window is shuffled, or mirrored, and the answers put back."""
        draw = np.random.default_rng(stable_seed("turned", seed))
        shown, _ = windows(values, self.length, self.length)
        hidden = _points(len(shown), self.length, draw) & self.masked
        inputs = _asked(shown, hidden, hidden).inputs
        plain = predict(inputs, None)
        out = {}
        for name, order in (
            ("shuffled", draw.permutation(self.length)),
            ("mirrored", np.arange(self.length)[::-1]),
        ):
            there = torch.from_numpy(order.copy())
            back = predict(inputs[:, there], None)[:, there.argsort()]
            out[f"change when {name}"] = (back - plain).abs().amax((1, 2)).mean().item()
        return out


class _Normal:
    """A series in units of its clean lead-in: values and noiseless values (T,F), kinds of fault (tested)."""

    def __init__(self, values: np.ndarray, clean: np.ndarray, kinds: np.ndarray, lead: int) -> None:
        mean, size = values[:lead].mean(0), values[:lead].std(0)
        self.values, self.clean, self.kinds = (values - mean) / size, (clean - mean) / size, kinds

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.values, self.clean, self.kinds))


@lru_cache(maxsize=4)
def _faulty(
    lead: int, tested: int, faults: int, count: int, seed: int, purpose: str
) -> list[_Normal]:
    draw = np.random.default_rng(stable_seed(f"{purpose} series", seed))
    values, clean = seasonal(lead + tested, draw, count)
    out = []
    for series, pure in zip(values, clean, strict=True):
        rest, kinds = inject(series[lead:], draw, faults)
        out.append(_Normal(np.concatenate([series[:lead], rest]), pure, kinds, lead))
    return out


@lru_cache(maxsize=2)
def _training_pool(series: int, length: int, lead: int, seed: int) -> np.ndarray:
    """Clean series (N,T,F), each in units of a stretch as long as a lead-in."""
    values, _ = seasonal(
        length, np.random.default_rng(stable_seed("training series", seed)), series
    )
    start = values[:, :lead]
    return (values - start.mean(1, keepdims=True)) / start.std(1, keepdims=True)


def _asked(values: np.ndarray, hidden: np.ndarray, asked: np.ndarray) -> Batch:
    """Inputs with hidden steps (B,T) left out and marked; targets with the steps that are asked marked."""
    shown = np.concatenate([np.where(hidden[..., None], 0.0, values), hidden[..., None]], -1)
    wanted = np.concatenate([values, asked[..., None]], -1)
    return Batch(torch.from_numpy(shown).float(), torch.from_numpy(wanted).float())


def _points(count: int, length: int, draw: np.random.Generator) -> np.ndarray:
    """A quarter of the steps, anywhere: (count, length)."""
    return draw.random((count, length)).argsort(1) < length // GROUPS


def _spans(count: int, length: int, draw: np.random.Generator) -> np.ndarray:
    """About a quarter of the steps, in spans of eight."""
    starts = draw.integers(length - SPAN + 1, size=(count, length // GROUPS // SPAN, 1))
    hidden = np.zeros((count, length), bool)
    for span in range(SPAN):
        np.put_along_axis(hidden, starts[..., 0] + span, True, 1)
    return hidden
