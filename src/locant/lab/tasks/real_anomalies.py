"""Real anomalies: a model learns to fill in hidden stretches of a real series; what it fills in badly is anomalous.

The seed of a run is the number of a series. The model learns from the whole of it, without its labels, and then says of
every point what should stand there, from masks that hide it in turn. Labels judge the scores in the end and choose
nothing. All scores, those of plain methods and random ones too, are smoothed alike before they are judged: labels of
such series are wide windows, and a narrow peak in one earns little.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import smooth_l1_loss

from locant._internal.checks import one_of, whole_number
from locant._internal.seeds import stable_seed
from locant.anomaly.baselines import load
from locant.anomaly.metrics.affiliation import affiliation
from locant.anomaly.metrics.auc_roc import auc_roc
from locant.anomaly.metrics.average_precision import average_precision
from locant.anomaly.metrics.smoothing import random_scores, smooth, usual_width
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.anomaly.metrics.vus_window import vus_window
from locant.lab.tasks import NAB, UNLABELLED
from locant.lab.tasks._masks import GROUPS, spans, turns
from locant.lab.tasks._nab import Labelled, digest, labelled, read
from locant.lab.tasks._patches import Patches
from locant.lab.tasks.base import Batch, Predict, Scores, Tested

LEARN = ("distance", "sub_pca")  # plain methods that learn from the series itself
LOCAL = (
    "local_quadratic",
    "rolling_median",
    "second_difference",
)  # those that look at neighbours alone
SAMPLED = {"any": 0.0, "irregular": 0.1}  # the least share of gaps that are not the usual one
FLAGGED = 0.05  # the share of points, those of the highest scores, that affiliation judges


@dataclass(frozen=True)
class RealAnomalies:
    """The labelled series of a folder, in windows of `length` patches of `width` points each.

    folder   where they lie; by default where LOCANT_NAB says, so that a run is known wherever the same data lie
    digest   of what the folder holds: other data are another task
    sampled  "any" for all series; "irregular" for those alone that are not sampled at even times
    """

    folder: str = ""
    digest: str = ""
    length: int = 64
    width: int = 4
    sampled: str = "any"

    symbols = 0
    pool = False
    causal = False
    metric = "VUS-PR"
    higher_is_better = True
    tested_on = UNLABELLED
    chooses = "masked loss"
    chooses_higher = False
    threshold = 0.0
    baselines = ("random", *LEARN, *LOCAL)
    oracles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole_number("real-anomalies", "length", self.length, least=8)
        whole_number("real-anomalies", "width", self.width)
        one_of("real-anomalies", "sampled", self.sampled, SAMPLED)
        if not self.digest:
            self._check()
        elif self.measured() != self.digest:
            raise ValueError(f"{self.home} does not hold what it held when the study began.")

    @property
    def home(self) -> str:
        """Where the series lie."""
        return self.folder or os.environ.get(NAB, "")

    @property
    def reach(self) -> int:
        return self.length

    @property
    def features(self) -> int:
        return self.width + 1  # the last one says whether the patch is hidden

    @property
    def outputs(self) -> int:
        return self.width

    @property
    def chance(self) -> float:
        """What random scores at the same smoothing reach, over all series."""
        return round(
            float(
                np.mean(
                    [
                        self.baseline("random", 0, seed)["VUS-PR"]
                        for seed in range(len(self.names()))
                    ]
                )
            ),
            3,
        )

    def names(self) -> tuple[str, ...]:
        """The series by number."""
        every = labelled(self.home)
        if self.sampled == "any":
            return every
        least = SAMPLED[self.sampled]
        found = tuple(
            name for name in every if read(self.home, name, self.digest).irregular >= least
        )
        if not found:
            raise ValueError(
                f"no series of {self.home} is sampled at uneven times: at least {least:.0%} of the gaps must differ "
                'from the usual one.\n  All series: sampled = "any"'
            )
        return found

    def measured(self) -> str:
        return digest(self.home, labelled(self.home))

    def ceilings(self) -> Scores:
        """None is known for series that nobody made."""
        return {}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        series, draw = (
            self._series(seed),
            np.random.default_rng(stable_seed("real windows", seed, step)),
        )
        starts = draw.integers(len(series.values) - self._patches.window + 1, size=count)
        return self._asked(series, starts, spans(count, self.length, draw))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Huber's loss of what is hidden: squares near 0, and no more than the distance where a value is far out."""
        wanted, asked = target[..., :-1], target[..., -1:]
        away = smooth_l1_loss(output, wanted, reduction="none")
        return (away * asked).sum() / (asked.sum() * self.width)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        """The loss on windows evenly over the series, with masks that stay the same."""
        series, draw = (
            self._series(seed),
            np.random.default_rng(stable_seed("real validation", seed)),
        )
        last = len(series.values) - self._patches.window
        starts = np.unique(np.linspace(0, last, count).round().astype(int))
        rows = self._asked(series, starts, spans(len(starts), self.length, draw))
        return {
            "masked loss": float(self.loss(predict(rows.inputs, None, rows.times), rows.target))
        }

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        series = self._series(seed)
        rough = self._deviations(predict, series, seed)
        columns = {
            "step": list(range(len(rough))),
            "score": rough.tolist(),
            "kind": series.labels.astype(int).tolist(),
        }
        return Tested(judged(series, rough), columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        series = self._series(seed)
        if name == "random":
            return judged(
                series, random_scores(len(series.values), 0, stable_seed("random scores", seed))
            )
        lead = series.values if name in LEARN else series.values[:0]
        return judged(series, load(name).score(lead, series.values))

    def example(self, seed: int) -> Batch:
        """A window around the beginning of the first anomaly."""
        series, draw = self._series(seed), np.random.default_rng(stable_seed("real example", seed))
        middle = int(series.labels.argmax()) - self._patches.window // 2
        starts = np.clip([middle], 0, len(series.values) - self._patches.window)
        return self._asked(series, starts, spans(1, self.length, draw))

    @property
    def _patches(self) -> Patches:
        return Patches(self.length, self.width)

    def _series(self, seed: int) -> Labelled:
        names = self.names()
        if seed >= len(names):
            raise ValueError(
                f"{self.home} has {len(names)} such series, 0 to {len(names) - 1}. Got {seed} instead."
            )
        return read(self.home, names[seed], self.digest)

    def _check(self) -> None:
        """Whether every series can be used: told before anything trains."""
        for name in self.names():
            rows = len(read(self.home, name, self.digest).values)
            if rows < self._patches.window:
                raise ValueError(
                    f"{name} has {rows} rows, but a window has {self._patches.window}: {self.length} patches of "
                    f"{self.width} points.\n  Shorter windows: --set task_options.length=32; or leave the series out."
                )

    def _asked(self, series: Labelled, starts: np.ndarray, hidden: np.ndarray) -> Batch:
        """The windows that begin there, with hidden tokens (N, tokens) left out and marked, and asked for."""
        windows = self._patches.cut(series.seen, starts)  # (N, tokens, width)
        shown = np.concatenate([np.where(hidden[..., None], 0.0, windows), hidden[..., None]], -1)
        wanted = np.concatenate([windows, hidden[..., None]], -1)
        times = torch.from_numpy(self._patches.places(series.at, starts))
        return Batch(torch.from_numpy(shown).float(), torch.from_numpy(wanted).float(), times=times)

    def _deviations(self, predict: Predict, series: Labelled, seed: int) -> np.ndarray:
        """How far each point is from what the model puts there when it is hidden, (T,)."""
        starts = self._patches.starts(len(series.values))
        whose = turns(
            len(starts), self.length, np.random.default_rng(stable_seed("real masks", seed))
        )  # (N, tokens)
        rows = [self._asked(series, starts, whose == turn) for turn in range(GROUPS)]
        times = torch.cat([one.times for one in rows if one.times is not None])
        output = predict(torch.cat([one.inputs for one in rows]), None, times).double().numpy()
        answers = output.reshape(GROUPS, len(starts), self.length, self.width)
        said = np.take_along_axis(answers, whose[None, ..., None], 0)[
            0
        ]  # by the mask that hides the token
        expected = self._patches.laid(said, starts, len(series.values))  # (T, 1)
        return np.abs(series.values - expected)[:, 0]


def judged(series: Labelled, rough: np.ndarray) -> Scores:
    """How well scores (T,) agree with the labels of a series, smoothed by the usual width for their length."""
    labels, window = series.labels, vus_window(series.values)
    scores = smooth(rough[:, None], usual_width(len(rough)))[:, 0]
    flagged = scores > np.quantile(scores, 1 - FLAGGED)
    return {
        "VUS-PR": vus_pr(labels, scores, window=window),
        "average precision": average_precision(labels, scores),
        "AUC-ROC": auc_roc(labels, scores),
        "affiliation F1, top 5 %": affiliation(labels, flagged).f1,
        "VUS-PR, not smoothed": vus_pr(labels, rough, window=window),
    }
