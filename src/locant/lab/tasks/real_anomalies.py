"""Real anomalies: a model learns to fill in hidden spans of a real series; what it fills in badly
is anomalous.

The seed of a run is the number of a series. The model learns from the whole series, without its
labels, and then predicts every point from masks that hide it in turn. Labels judge the scores at
the end and choose nothing. All scores, those of baselines and random scores too, are smoothed alike
before they are judged: labels of such series are wide windows, and a narrow peak in one earns
little.
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
from locant.anomaly.metrics.smoothing import default_width, random_scores, smooth
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.anomaly.metrics.vus_window import vus_window
from locant.anomaly.series.model_input import GROUPS, Patches, hide_spans, mask_groups
from locant.lab.tasks import NAB, UNLABELLED
from locant.lab.tasks._nab import LabeledSeries, folder_digest, labeled_names, read_labeled
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores

FITTED = ("distance", "sub_pca")  # baselines that learn from the series itself
LOCAL = ("local_quadratic", "rolling_median", "second_difference")  # these see neighbors only
MIN_IRREGULAR = {"any": 0.0, "irregular": 0.1}  # the least share of gaps that are not the usual one
FLAGGED = 0.05  # the share of points, those with the highest scores, that affiliation judges


@dataclass(frozen=True)
class RealAnomalies:
    """The labeled series of a folder, in windows of `length` patches of `width` points each.

    folder   the folder of the series; LOCANT_NAB by default, so that a run is the same run wherever
             the same data are
    digest   of what the folder holds: other data are another task
    sampled  "any" for all series; "irregular" only for those that are not sampled at even times
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
    selection_metric = "masked loss"
    selects_higher = False
    threshold = 0.0
    baselines = ("random", *FITTED, *LOCAL)
    oracles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole_number("real-anomalies", "length", self.length, least=8)
        whole_number("real-anomalies", "width", self.width)
        one_of("real-anomalies", "sampled", self.sampled, MIN_IRREGULAR)
        if not self.digest:
            self._check_series()
        elif self.current_digest() != self.digest:
            raise ValueError(f"{self.data_folder} does not hold what it held when the study began.")

    @property
    def data_folder(self) -> str:
        """The folder that holds the series."""
        return self.folder or os.environ.get(NAB, "")

    @property
    def max_length(self) -> int:
        return self.length

    @property
    def features(self) -> int:
        return self.width + 1  # the last one says whether the patch is hidden

    @property
    def outputs(self) -> int:
        return self.width

    @property
    def chance(self) -> float:
        """The mean score over all series of random scores with the same smoothing."""
        seeds = range(len(self.names()))
        scores = [self.baseline("random", 0, seed)["VUS-PR"] for seed in seeds]
        return round(float(np.mean(scores)), 3)

    def names(self) -> tuple[str, ...]:
        """Return the names of the series; the seed of a run is an index into them."""
        names = labeled_names(self.data_folder)
        if self.sampled == "any":
            return names
        least = MIN_IRREGULAR[self.sampled]
        found = tuple(name for name in names if self._read(name).irregular >= least)
        if not found:
            raise ValueError(
                f"no series of {self.data_folder} is sampled at uneven times: at least {least:.0%} "
                'of the gaps must differ from the usual one.\n  All series: sampled = "any"'
            )
        return found

    def current_digest(self) -> str:
        return folder_digest(self.data_folder, labeled_names(self.data_folder))

    def ceilings(self) -> Scores:
        """Return no ceiling: none is known for real series."""
        return {}

    def batch(self, count: int, seed: int, step: int) -> Batch:
        series = self._series(seed)
        draw = np.random.default_rng(stable_seed("real windows", seed, step))
        starts = draw.integers(len(series.values) - self._patches.window + 1, size=count)
        return self._masked_batch(series, starts, hide_spans(count, self.length, draw))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Compute Huber's loss of the hidden patches: squares near 0, absolute values far out."""
        values, loss_mask = target[..., :-1], target[..., -1:]
        losses = smooth_l1_loss(output, values, reduction="none")
        return (losses * loss_mask).sum() / (loss_mask.sum() * self.width)

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        """Compute the loss on windows evenly over the series, with masks that stay the same."""
        series = self._series(seed)
        draw = np.random.default_rng(stable_seed("real validation", seed))
        last = len(series.values) - self._patches.window
        starts = np.unique(np.linspace(0, last, count).round().astype(int))
        hidden = hide_spans(len(starts), self.length, draw)
        batch = self._masked_batch(series, starts, hidden)
        output = predict(batch.inputs, None, batch.times)
        return {"masked loss": float(self.loss(output, batch.target))}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        series = self._series(seed)
        scores = self._deviations(predict, series, seed)
        columns = {
            "step": list(range(len(scores))),
            "score": scores.tolist(),
            "kind": series.labels.astype(int).tolist(),
        }
        return Evaluation(label_metrics(series, scores), columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        series = self._series(seed)
        if name == "random":
            random_seed = stable_seed("random scores", seed)
            return label_metrics(series, random_scores(len(series.values), 0, random_seed))
        lead = series.values if name in FITTED else series.values[:0]
        return label_metrics(series, load(name).score(lead, series.values))

    def example(self, seed: int) -> Batch:
        """Cut a window around the beginning of the first anomaly."""
        series = self._series(seed)
        draw = np.random.default_rng(stable_seed("real example", seed))
        start = int(series.labels.argmax()) - self._patches.window // 2
        starts = np.clip([start], 0, len(series.values) - self._patches.window)
        return self._masked_batch(series, starts, hide_spans(1, self.length, draw))

    @property
    def _patches(self) -> Patches:
        return Patches(self.length, self.width)

    def _read(self, name: str) -> LabeledSeries:
        return read_labeled(self.data_folder, name, self.digest)

    def _series(self, seed: int) -> LabeledSeries:
        names = self.names()
        if seed >= len(names):
            raise ValueError(
                f"{self.data_folder} has {len(names)} such series, 0 to {len(names) - 1}. "
                f"Got {seed} instead."
            )
        return self._read(names[seed])

    def _check_series(self) -> None:
        """Check before anything trains that every series is long enough for a window."""
        for name in self.names():
            rows = len(self._read(name).values)
            if rows < self._patches.window:
                raise ValueError(
                    f"{name} has {rows} rows, but a window has {self._patches.window}: "
                    f"{self.length} patches of {self.width} points.\n"
                    "  Give shorter windows, such as task_options.length=32 (--set), or leave "
                    "the series out."
                )

    def _masked_batch(self, series: LabeledSeries, starts: np.ndarray, hidden: np.ndarray) -> Batch:
        """Cut the windows at `starts`; blank and mark the hidden tokens (N, tokens), and put them
        into the loss."""
        windows = self._patches.cut(series.visible, starts)  # (N, tokens, width)
        shown = np.concatenate([np.where(hidden[..., None], 0.0, windows), hidden[..., None]], -1)
        target = np.concatenate([windows, hidden[..., None]], -1)
        times = torch.from_numpy(self._patches.positions(series.at, starts))
        return Batch(torch.from_numpy(shown).float(), torch.from_numpy(target).float(), times=times)

    def _deviations(self, predict: Predict, series: LabeledSeries, seed: int) -> np.ndarray:
        """Measure how far each point is from its prediction when it is hidden, (T,)."""
        length = len(series.values)
        starts = self._patches.starts(length)
        draw = np.random.default_rng(stable_seed("real masks", seed))
        group = mask_groups(len(starts), self.length, draw)  # (N, tokens)
        batches = [self._masked_batch(series, starts, group == number) for number in range(GROUPS)]
        times = torch.cat([batch.times for batch in batches if batch.times is not None])
        inputs = torch.cat([batch.inputs for batch in batches])
        output = predict(inputs, None, times).double().numpy()
        by_mask = output.reshape(GROUPS, len(starts), self.length, self.width)
        # Each token is predicted by the mask that hides it: (N, tokens, width).
        predicted = np.take_along_axis(by_mask, group[None, ..., None], 0)[0]
        expected = self._patches.merge(predicted, starts, length)  # (T, 1)
        return np.abs(series.values - expected)[:, 0]


def label_metrics(series: LabeledSeries, scores: np.ndarray) -> Scores:
    """Measure how well scores (T,), smoothed by the usual width for their length, agree with a
    series' labels."""
    labels, window = series.labels, vus_window(series.values)
    smoothed = smooth(scores[:, None], default_width(len(scores)))[:, 0]
    flagged = smoothed > np.quantile(smoothed, 1 - FLAGGED)
    return {
        "VUS-PR": vus_pr(labels, smoothed, window=window),
        "average precision": average_precision(labels, smoothed),
        "AUC-ROC": auc_roc(labels, smoothed),
        "affiliation F1, top 5 %": affiliation(labels, flagged).f1,
        "VUS-PR, not smoothed": vus_pr(labels, scores, window=window),
    }
