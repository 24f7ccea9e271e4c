"""Hidden steps of a user's own series: a quarter of each window is hidden and told from the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from locant.lab.tasks._own_series import Asked, Floats, Method, OwnSeries

GROUPS = 4  # one step of so many is hidden


@dataclass(frozen=True)
class OwnMasked(OwnSeries):
    """Windows of `length` steps; the last number of a step says whether it is hidden."""

    causal = False

    @property
    def features(self) -> int:
        return self.outputs + 1

    def ask(self, windows: Floats, draw: np.random.Generator) -> Asked:
        windows = windows[:, : self.length]
        order = np.tile(np.arange(self.length) % GROUPS, (len(windows), 1))
        hidden = (draw.permuted(order, axis=1) == 0).astype(np.float32)
        shown = windows * (1 - hidden[..., None])
        return Asked(np.concatenate([shown, hidden[..., None]], -1), windows, hidden)

    def methods(self) -> dict[str, Method]:
        return {
            "mean": lambda inputs, asked: np.zeros_like(inputs[..., :-1]),
            "straight line": straight,
        }


def straight(inputs: Floats, asked: Floats) -> Floats:
    """Hidden steps on the line between their visible neighbours.

    >>> inputs = np.array([[[1.0, 0], [0, 1], [3, 0], [0, 1]]], np.float32)
    >>> straight(inputs, inputs[..., -1])[0, :, 0].tolist()
    [1.0, 2.0, 3.0, 3.0]
    """
    out = inputs[..., :-1].copy()
    steps = np.arange(out.shape[1])
    for window, hidden in zip(out, asked > 0, strict=True):
        for column in window.T:
            column[hidden] = np.interp(steps[hidden], steps[~hidden], column[~hidden])
    return out
