"""The next step of a user's own series, from all before it in a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from locant.lab.tasks._own_series import Asked, Floats, Method, OwnSeries


@dataclass(frozen=True)
class OwnForecast(OwnSeries):
    """Windows of `length` steps; at each the model tells the next one. The second half of a window is asked."""

    causal = True

    @property
    def features(self) -> int:
        return self.outputs

    def ask(self, windows: Floats, draw: np.random.Generator) -> Asked:
        asked = np.zeros((len(windows), self.length), np.float32)
        asked[:, self.length // 2 :] = 1
        return Asked(windows[:, :-1], windows[:, 1:], asked)

    def methods(self) -> dict[str, Method]:
        return {
            "mean": lambda inputs, asked: np.zeros_like(inputs),
            "last value": lambda inputs, asked: inputs,
            "straight on": straight_on,
        }


def straight_on(inputs: Floats, asked: Floats) -> Floats:
    """The last step once more.

    >>> straight_on(np.array([[[1.0], [3.0], [4.0]]], np.float32), np.ones((1, 3), np.float32))[0, :, 0].tolist()
    [1.0, 5.0, 5.0]
    """
    return inputs + np.diff(inputs, axis=1, prepend=inputs[:, :1])
