"""A user's own series as a task: its first part trains, the next chooses, the last decides; in units of the first."""

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
from locant.lab.tasks._own import Own
from locant.lab.tasks.base import Batch, Predict, Scores, Tested

SHARES = (0.6, 0.8)  # where validation and test begin
Floats = NDArray[np.float32]
Method = Callable[
    [Floats, Floats], Floats
]  # visible inputs and what is asked → answers, all (N,T,…)


class Parts(NamedTuple):
    """Training, validation and test parts, each (T,F)."""

    train: Floats
    validation: Floats
    test: Floats


class Asked(NamedTuple):
    """Windows of inputs (N,T,·), the right answers (N,T,F), and which of them are asked (N,T), as numbers."""

    inputs: Floats
    answers: Floats
    asked: Floats


@dataclass(frozen=True)
class OwnSeries(Own):
    """What the series tasks share. A subclass says what is asked of a window."""

    time: str | None = None
    columns: tuple[str, ...] = ()
    length: int = 96

    symbols = 0
    metric = "error"  # mean square, in units of the training part's variance
    chooses = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("a task on your series", "length", self.length, least=8)
        needed = 5 * (self.length + 1)
        if len(self._values()) < needed:
            raise ValueError(
                f"{self.path} has {len(self._values())} rows. Windows of {self.length} need at least {needed}: "
                "three fifths train, one fifth chooses, one fifth decides.\n  Shorter windows: --train-length"
            )

    @property
    def reach(self) -> int:
        return self.length

    @property
    def outputs(self) -> int:
        return self._values().shape[1]

    @property
    def chance(self) -> float:
        """The error of the training part's mean."""
        return round(float(np.square(self._parts().test, dtype=float).mean()), 3)

    def ask(self, windows: Floats, draw: np.random.Generator) -> Asked:
        """What is shown of windows (N,T,F), and what is asked."""
        raise NotImplementedError

    def methods(self) -> dict[str, Method]:
        """Plain methods by name."""
        raise NotImplementedError

    @property
    def baselines(self) -> tuple[str, ...]:
        return tuple(self.methods())

    def measured(self) -> str:
        return hashlib.sha256(np.ascontiguousarray(self._values()).tobytes()).hexdigest()[:16]

    def batch(self, count: int, seed: int, step: int) -> Batch:
        draw, part = np.random.default_rng(stable_seed("windows", seed, step)), self._parts().train
        start = draw.integers(len(part) - self.length, size=count)
        return _batch(self.ask(part[start[:, None] + np.arange(self.length + 1)], draw))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        """The mean squared error of what is asked."""
        wanted, asked = target[..., :-1], target[..., -1:]
        return ((output - wanted).square() * asked).sum() / (asked.sum() * wanted.shape[-1])

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = _batch(self._windows(self._parts().validation, count))
        return {"error": float(self.loss(predict(rows.inputs, None), rows.target))}

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        rows = _batch(self._windows(self._parts().test, count))
        output = predict(rows.inputs, None)
        wanted, asked = rows.target[..., :-1], rows.target[..., -1] > 0
        where = asked.nonzero().tolist()
        away = (output - wanted).square().mean(-1)[asked].tolist()
        columns = {
            "window": [w for w, _ in where],
            "step": [s for _, s in where],
            "squared error": away,
        }
        return Tested({"error": float(self.loss(output, rows.target))}, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        windows = self._windows(self._parts().test, count)
        answers = torch.from_numpy(self.methods()[name](windows.inputs, windows.asked))
        return {"error": float(self.loss(answers, _batch(windows).target))}

    def example(self, seed: int) -> Batch:
        return _batch(self._windows(self._parts().test, 1))

    def _windows(self, part: Floats, count: int) -> Asked:
        """At most `count` windows, evenly over a part; the same for every seed, so that errors are comparable."""
        most = len(part) - self.length
        start = np.unique(np.linspace(0, most - 1, min(count, most)).round().astype(int))
        draw = np.random.default_rng(stable_seed("asked", len(part)))
        return self.ask(part[start[:, None] + np.arange(self.length + 1)], draw)

    def _values(self) -> NDArray[np.float64]:
        return _read(self.path, self.time, self.columns)

    def _parts(self) -> Parts:
        return _cut(self.path, self.time, self.columns)


@lru_cache(maxsize=2)
def _read(path: str, time: str | None, columns: tuple[str, ...]) -> NDArray[np.float64]:
    return read_series(path, time=time, columns=columns or None).values


@lru_cache(maxsize=2)
def _cut(path: str, time: str | None, columns: tuple[str, ...]) -> Parts:
    values = _read(path, time, columns)
    first, second = (int(share * len(values)) for share in SHARES)
    middle, spread = values[:first].mean(0), values[:first].std(0)
    if (spread == 0).any():
        raise ValueError(
            f"a column of {path} is constant in its first three fifths: there is nothing to learn from."
        )
    whole = ((values - middle) / spread).astype(np.float32)
    return Parts(whole[:first], whole[first:second], whole[second:])


def _batch(windows: Asked) -> Batch:
    target = np.concatenate([windows.answers, windows.asked[..., None]], -1)
    return Batch(torch.from_numpy(windows.inputs), torch.from_numpy(target))
