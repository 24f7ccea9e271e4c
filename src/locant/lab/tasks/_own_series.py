"""A user's own series as a task: the first part trains, the next validates, the last tests; scaled
by the first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from locant._internal.checks import whole_number
from locant._internal.seeds import stable_seed
from locant.anomaly.series import read_series
from locant.lab.tasks._own_data import OwnTask
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores

VALIDATION_FROM, TEST_FROM = 0.6, 0.8  # the shares of the series where these parts begin
Floats = NDArray[np.float32]
Method = Callable[[Floats, Floats], Floats]  # inputs (N,T,·) and loss mask (N,T) → answers (N,T,F)


class SeriesParts(NamedTuple):
    """Training, validation and test parts, each (T,F)."""

    train: Floats
    validation: Floats
    test: Floats


class MaskedWindows(NamedTuple):
    """Windows as a model sees them.

    inputs     (N,T,·)
    target     the right answers (N,T,F)
    loss_mask  (N,T), 1 for the steps that are scored
    """

    inputs: Floats
    target: Floats
    loss_mask: Floats


@dataclass(frozen=True)
class OwnSeries(OwnTask):
    """What the tasks on a user's series share. A subclass says what is shown of a window and what
    is scored."""

    time: str | None = None
    columns: tuple[str, ...] = ()
    length: int = 96

    symbols = 0
    metric = "error"  # mean square, in units of the training part's variance
    selection_metric = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("a task on your series", "length", self.length, least=8)
        needed = 5 * (self.length + 1)
        rows = len(self._values())
        if rows < needed:
            raise ValueError(
                f"{self.path} has {rows} rows. Windows of {self.length} need at least {needed}: "
                "three fifths train, one fifth validates, one fifth tests.\n"
                "  Give shorter windows: train_length (--train-length)"
            )

    @property
    def max_length(self) -> int:
        return self.length

    @property
    def outputs(self) -> int:
        return self._values().shape[1]

    @property
    def chance(self) -> float:
        """The error of the training part's mean."""
        return round(float(np.square(self._parts().test, dtype=float).mean()), 3)

    def mask_windows(self, windows: Floats, draw: np.random.Generator) -> MaskedWindows:
        """Decide what is shown of windows (N, length + 1, F), and what is scored."""
        raise NotImplementedError

    def methods(self) -> dict[str, Method]:
        """Return the baselines by name."""
        raise NotImplementedError

    @property
    def baselines(self) -> tuple[str, ...]:
        return tuple(self.methods())

    def current_digest(self) -> str:
        return hashlib.sha256(np.ascontiguousarray(self._values()).tobytes()).hexdigest()[:16]

    def batch(self, count: int, seed: int, step: int) -> Batch:
        draw = np.random.default_rng(stable_seed("windows", seed, step))
        part = self._parts().train
        start = draw.integers(len(part) - self.length, size=count)
        windows = part[start[:, None] + np.arange(self.length + 1)]
        return _batch(self.mask_windows(windows, draw))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Compute the mean squared error of the steps in the loss mask, the last feature of the
        target."""
        values, loss_mask = target[..., :-1], target[..., -1:]
        squares = (output - values).square() * loss_mask
        return squares.sum() / (loss_mask.sum() * values.shape[-1])

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        batch = _batch(self._even_windows(self._parts().validation, count))
        return {"error": float(self.loss(predict(batch.inputs, None), batch.target))}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        batch = _batch(self._even_windows(self._parts().test, count))
        output = predict(batch.inputs, None)
        values, scored = batch.target[..., :-1], batch.target[..., -1] > 0
        window, step = scored.nonzero().unbind(1)
        columns = {
            "window": window.tolist(),
            "step": step.tolist(),
            "squared error": (output - values).square().mean(-1)[scored].tolist(),
        }
        return Evaluation({"error": float(self.loss(output, batch.target))}, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        windows = self._even_windows(self._parts().test, count)
        answers = torch.from_numpy(self.methods()[name](windows.inputs, windows.loss_mask))
        return {"error": float(self.loss(answers, _batch(windows).target))}

    def example(self, seed: int) -> Batch:
        return _batch(self._even_windows(self._parts().test, 1))

    def _even_windows(self, part: Floats, count: int) -> MaskedWindows:
        """Cut at most `count` windows evenly over a part; the same for every seed, so that errors
        are comparable."""
        most = len(part) - self.length
        start = np.unique(np.linspace(0, most - 1, min(count, most)).round().astype(int))
        draw = np.random.default_rng(stable_seed("asked", len(part)))
        return self.mask_windows(part[start[:, None] + np.arange(self.length + 1)], draw)

    def _values(self) -> NDArray[np.float64]:
        return _read_values(self.path, self.time, self.columns)

    def _parts(self) -> SeriesParts:
        return _read_parts(self.path, self.time, self.columns)


@lru_cache(maxsize=2)
def _read_values(path: str, time: str | None, columns: tuple[str, ...]) -> NDArray[np.float64]:
    return read_series(path, time=time, columns=columns or None).values


@lru_cache(maxsize=2)
def _read_parts(path: str, time: str | None, columns: tuple[str, ...]) -> SeriesParts:
    """Split a series into parts, in units of the training part."""
    values = _read_values(path, time, columns)
    validation, test = int(VALIDATION_FROM * len(values)), int(TEST_FROM * len(values))
    mean, std = values[:validation].mean(0), values[:validation].std(0)
    if (std == 0).any():
        raise ValueError(
            f"a column of {path} is constant in its first three fifths: "
            "there is nothing to learn from."
        )
    scaled = ((values - mean) / std).astype(np.float32)
    return SeriesParts(scaled[:validation], scaled[validation:test], scaled[test:])


def _batch(windows: MaskedWindows) -> Batch:
    """Make a batch whose target has the loss mask as its last feature."""
    target = np.concatenate([windows.target, windows.loss_mask[..., None]], -1)
    return Batch(torch.from_numpy(windows.inputs), torch.from_numpy(target))
