"""Classify: which class is this real series of? A few dozen series to learn from, as published.

A part of the training series, drawn by the seed, selects the best step; the published test part is
used once. Baselines know as much: one nearest neighbor, random convolutions with a linear
classifier (in the manner of MiniRocket), and a linear classifier on quantiles, which no order can
change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import conv1d, cross_entropy, one_hot

from locant._internal.checks import share
from locant._internal.seeds import stable_seed
from locant.lab.tasks import UNSEEN
from locant.lab.tasks._ts_files import DataSet, LabeledSeries, read_data_set
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores

KERNELS, KERNEL_SIZE = 500, 9
QUANTILES = 16
RIDGE = 1e-2
BASELINES = ("1-nearest neighbor", "random convolutions", "quantiles")


@dataclass(frozen=True)
class Classify:
    """Series of one data set, each channel scaled by its training series; one class a series.

    dataset  the folder's name, such as ItalyPowerDemand
    held     the share of training series that select the best step
    """

    dataset: str = "ItalyPowerDemand"
    held: float = 0.25
    digest: str = ""

    symbols = 0
    pool = False  # the mean over steps is taken in `answers`; the output head is linear
    causal = False
    metric = "accuracy"
    higher_is_better = True
    tested_on = UNSEEN
    selection_metric = "loss"
    selects_higher = False
    threshold = 1.0
    baselines = BASELINES
    oracles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        share("classify", "held", self.held)
        if self.digest and self.current_digest() != self.digest:
            raise ValueError(f"{self.dataset} does not hold what it held when the study began.")

    def current_digest(self) -> str:
        return self.data.digest

    @property
    def data(self) -> DataSet:
        """The data set, as it was published."""
        return read_data_set(self.dataset)

    @property
    def length(self) -> int:
        return int(self.data.train.values.shape[1])

    @property
    def max_length(self) -> int:
        return self.length

    @property
    def features(self) -> int:
        return int(self.data.train.values.shape[2])

    @property
    def outputs(self) -> int:
        return len(self.data.classes)

    @property
    def chance(self) -> float:
        """The share of test series in the largest class of the training part."""
        largest = np.bincount(self.data.train.labels).argmax()
        return float((self.data.test.labels == largest).mean())

    def ceilings(self) -> Scores:
        """Return no ceiling: none is known for real series."""
        return {}

    def split(self, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the training series that train, and those that select; drawn by the seed."""
        count = len(self.data.train.labels)
        order = np.random.default_rng(stable_seed("split", seed)).permutation(count)
        held = max(1, round(self.held * count))
        return order[held:], order[:held]

    def batch(self, count: int, seed: int, step: int) -> Batch:
        trained, _ = self.split(seed)
        draw = np.random.default_rng(stable_seed("series", seed, step))
        return self._rows(self.data.train, draw.choice(trained, count))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(answers(output, target), labels_of(target))

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = self._rows(self.data.train, self.split(seed)[1])
        return {"loss": self.loss(predict(rows.inputs, rows.padding_mask), rows.target).item()}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Score the published test part, all of it."""
        rows = self._rows(self.data.test, np.arange(len(self.data.test.labels)))
        output = predict(rows.inputs, rows.padding_mask)
        answer, target = answers(output, rows.target).argmax(-1), labels_of(rows.target)
        right = (answer == target).double().mean().item()
        columns = {"target": target.tolist(), "answer": answer.tolist()}
        return Evaluation({"accuracy": right}, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        train = self._rows(self.data.train, np.arange(len(self.data.train.labels)))
        test = self._rows(self.data.test, np.arange(len(self.data.test.labels)))
        known, target = labels_of(train.target), labels_of(test.target)
        if name == "1-nearest neighbor":
            distance = torch.cdist(test.inputs.flatten(1), train.inputs.flatten(1))
            answer = known[distance.argmin(1)]
        else:
            features = _quantiles if name == "quantiles" else _random_convolutions
            answer = _ridge(features(train, seed), known, features(test, seed), self.outputs)
        return {"accuracy": (answer == target).double().mean().item()}

    def example(self, seed: int) -> Batch:
        return self._rows(self.data.test, np.array([seed % len(self.data.test.labels)]))

    def _rows(self, part: LabeledSeries, chosen: NDArray[np.int64]) -> Batch:
        """Scale chosen series by the training part; a mask where lengths differ.

        The target (B,T,2) holds the class, and whether the series has this step.
        """
        train = self.data.train
        known = np.arange(self.length) < train.lengths[:, None]
        mean, spread = train.values[known].mean(0), train.values[known].std(0)
        real = np.arange(self.length) < part.lengths[chosen][:, None]
        scaled = (part.values[chosen] - mean) / np.maximum(spread, 1e-6) * real[..., None]
        inputs = torch.from_numpy(scaled.astype(np.float32))
        mask = None if known.all() and real.all() else torch.from_numpy(real)
        label = np.broadcast_to(part.labels[chosen][:, None], real.shape)
        target = torch.from_numpy(np.stack([label, real], -1).astype(np.float32))
        return Batch(inputs, target, mask)


def answers(output: Tensor, target: Tensor) -> Tensor:
    """Take the mean of outputs (B,T,classes) over the steps that a series has: (B,classes)."""
    real = target[..., 1:]
    return (output * real).sum(1) / real.sum(1)


def labels_of(target: Tensor) -> Tensor:
    """Return the class (B) that stands at every step of a target (B,T,2)."""
    return target[:, 0, 0].long()


def _quantiles(rows: Batch, seed: int) -> Tensor:
    """Return quantiles of every channel (B, channels·16): nothing that order could change."""
    shares = torch.linspace(0, 1, QUANTILES)
    found = []
    for number, series in enumerate(rows.inputs):
        real = series if rows.padding_mask is None else series[rows.padding_mask[number]]
        found.append(real.quantile(shares, dim=0).flatten())
    return torch.stack(found)


def _random_convolutions(rows: Batch, seed: int) -> Tensor:
    """Return for random dilated kernels the share of positive outputs: (B, kernels).

    Dempster et al. 2020, arXiv:2003.00504, in our own words: the share forgets where it was.
    """
    draw = torch.Generator().manual_seed(stable_seed("kernels", seed))
    length, channels = rows.inputs.shape[1:]
    widest = max(1, (length - 1) // (KERNEL_SIZE - 1))
    found = []
    for _ in range(KERNELS):
        kernel = torch.randn(1, channels, KERNEL_SIZE, generator=draw)
        kernel = kernel - kernel.mean(-1, keepdim=True)
        bias = 2 * torch.rand(1, generator=draw) - 1
        power = torch.rand(1, generator=draw).item() * np.log2(widest) if widest > 1 else 0.0
        dilation = int(2**power)
        padding = dilation * (KERNEL_SIZE - 1) // 2
        output = conv1d(rows.inputs.mT, kernel, bias, padding=padding, dilation=dilation)
        found.append((output[:, 0] > 0).float().mean(1))
    return torch.stack(found, 1)


def _ridge(features: Tensor, labels: Tensor, test: Tensor, classes: int) -> Tensor:
    """Fit a ridge classifier to features (N,F) and answer the test features (M,F)."""
    mean, spread = features.mean(0), features.std(0).clamp(min=1e-6)
    x, x_test = (features - mean) / spread, (test - mean) / spread
    y = 2.0 * one_hot(labels, classes) - 1
    gram = x @ x.T + RIDGE * x.shape[1] * torch.eye(len(x))  # dual: fewer series than features
    weights = torch.linalg.solve(gram, y - y.mean(0))
    return (x_test @ (x.T @ weights) + y.mean(0)).argmax(-1)
