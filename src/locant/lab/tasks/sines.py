"""Sines: fill in the hidden steps of a sum of sines, read at even or at jittered times.

Periods are the same for all rows. With fixed phases a step's value follows from its position, up to
amplitudes; with random phases only the distances to visible steps tell it. With jitter the times
between steps vary, and a model that is told the count instead of the clock must guess them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from locant._internal.checks import at_least, one_of, share, whole_number
from locant.lab.tasks import UNSEEN
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores, generator

PHASES = ("random", "fixed")
BASELINES = ("fit with known periods", "the same fit by count", "interpolation")
RIDGE = 1e-3


@dataclass(frozen=True)
class Sines:
    """Rows of `length` steps: value (0 where hidden) and whether it is hidden; the clean value of
    hidden steps is the target.

    periods  of the sines, in steps; the amplitudes of a row are drawn from U(.5, 2)
    phase    "random": drawn for each row; "fixed": the same for all rows
    jitter   step i is read at i + U(−½, ½)·jitter
    noise    standard deviation of what is added to visible values
    hidden   the share of steps that are hidden

    >>> rows = Sines(length=8, hidden=0.5).sample(2, generator("doctest"))
    >>> rows.inputs.shape, rows.target.shape, bool((rows.times == torch.arange(8)).all())
    (torch.Size([2, 8, 2]), torch.Size([2, 8, 2]), True)
    """

    length: int = 64
    periods: tuple[float, ...] = (9.0, 23.0)
    phase: str = "random"
    jitter: float = 0.0
    noise: float = 0.1
    hidden: float = 0.25

    symbols = 0
    features = 2
    outputs = 1
    pool = False
    causal = False
    metric = "variance explained"
    higher_is_better = True
    tested_on = UNSEEN
    selection_metric = "loss"
    selects_higher = False
    chance = 0.0
    threshold = 0.9
    baselines = BASELINES
    oracles = BASELINES[:1]

    def __post_init__(self) -> None:
        whole_number("sines", "length", self.length, least=8)
        one_of("sines", "phase", self.phase, PHASES)
        share("sines", "hidden", self.hidden)
        at_least("sines", "jitter", self.jitter, 0)
        at_least("sines", "noise", self.noise, 0)
        if self.jitter > 1:
            raise ValueError(f"sines needs jitter ≤ 1: steps stay in order. Got {self.jitter}.")

    @property
    def max_length(self) -> int:
        return self.length

    def ceilings(self) -> Scores:
        """Return no ceiling: without positions a model still sees the values."""
        return {}

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        """Draw rows; the target (B,T,2) is the clean value, and whether the step is hidden."""
        moved = torch.rand(count, self.length, generator=draw) - 0.5
        times = torch.arange(self.length) + self.jitter * moved  # (B, T)
        waves = len(self.periods)
        amplitude = 0.5 + 1.5 * torch.rand(count, waves, generator=draw)
        phase = 2 * math.pi * torch.rand(count, waves, generator=draw)
        if self.phase == "fixed":
            phase = torch.zeros_like(phase)
        angle = 2 * math.pi * times[..., None] / torch.tensor(self.periods) + phase[:, None]
        clean = (amplitude[:, None] * angle.sin()).sum(-1)  # (B, T)
        hidden = torch.rand(count, self.length, generator=draw) < self.hidden
        hidden[:, self.length // 2] = True  # each row asks something
        seen = clean + self.noise * torch.randn(count, self.length, generator=draw)
        inputs = torch.stack([seen.masked_fill(hidden, 0.0), hidden.float()], -1)
        return Batch(inputs, torch.stack([clean, hidden.float()], -1), times=times)

    def batch(self, count: int, seed: int, step: int) -> Batch:
        return self.sample(count, generator("data", seed, step))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Compute the mean squared error of outputs (B,T,1) at hidden steps."""
        hidden = target[..., 1] > 0
        return (output[..., 0] - target[..., 0])[hidden].square().mean()

    def score(self, output: Tensor, target: Tensor) -> Scores:
        """Compute the share of the hidden values' variance that the outputs explain."""
        error = self.loss(output, target).item()
        spread = target[..., 0][target[..., 1] > 0].var(correction=0).item()
        return {"variance explained": 1 - error / spread, "loss": error}

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = self.sample(count, generator("validation", seed))
        return self.score(predict(rows.inputs, None, rows.times), rows.target)

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        rows = self.sample(count, generator("test", seed))
        output = predict(rows.inputs, None, rows.times)
        error = (output[..., 0] - rows.target[..., 0]).square() * rows.target[..., 1]
        columns = {"row": list(range(count)), "squared error": error.sum(1).tolist()}
        return Evaluation(self.score(output, rows.target), columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        rows = self.sample(count, generator("test", seed))
        assert rows.times is not None
        visible = 1 - rows.inputs[..., 1]
        times = rows.times
        if name != BASELINES[0]:
            times = torch.arange(self.length).expand(count, -1)
        method = _interpolated if name == "interpolation" else self._fitted
        output = method(rows.inputs[..., 0], visible, times)
        return self.score(output[..., None], rows.target)

    def _fitted(self, values: Tensor, visible: Tensor, times: Tensor) -> Tensor:
        """Fit a sine and a cosine of every period to the visible values of each row: (B,T)."""
        angle = 2 * math.pi * times[..., None] / torch.tensor(self.periods)
        waves = torch.cat([angle.sin(), angle.cos()], -1).double()  # (B, T, 2·periods)
        weighted = waves * visible[..., None]
        ridge = RIDGE * torch.eye(waves.shape[-1]).double()
        moments = weighted.mT @ values[..., None].double()
        weights = torch.linalg.solve(weighted.mT @ waves + ridge, moments)
        return (waves @ weights)[..., 0].float()

    def example(self, seed: int) -> Batch:
        return self.sample(1, generator("example", seed))


def _interpolated(values: Tensor, visible: Tensor, times: Tensor) -> Tensor:
    """Draw a straight line between the visible steps on either side; the nearest one at an end."""
    index = torch.arange(values.shape[1]).expand(values.shape)
    last = values.shape[1]
    before = torch.where(visible > 0, index, -1).cummax(1).values
    after = torch.where(visible > 0, index, last).flip(1).cummin(1).values.flip(1)
    before, after = (
        torch.where(before < 0, after, before),
        torch.where(after >= last, before, after),
    )
    share_after = (index - before) / (after - before).clamp(min=1)
    left, right = values.gather(1, before), values.gather(1, after)
    return left + share_after * (right - left)
