"""Predict hidden steps of a user's own series: a quarter of each window is hidden, and the rest is
shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from locant.lab.tasks._own_series import Floats, MaskedWindows, Method, OwnSeries

GROUPS = 4  # one step of so many is hidden


@dataclass(frozen=True)
class OwnMasked(OwnSeries):
    """Windows of `length` steps; the last feature of a step says whether it is hidden."""

    causal = False

    @property
    def features(self) -> int:
        return self.outputs + 1

    def mask_windows(self, windows: Floats, draw: np.random.Generator) -> MaskedWindows:
        windows = windows[:, : self.length]
        group = np.tile(np.arange(self.length) % GROUPS, (len(windows), 1))
        hidden = (draw.permuted(group, axis=1) == 0).astype(np.float32)
        shown = windows * (1 - hidden[..., None])
        return MaskedWindows(np.concatenate([shown, hidden[..., None]], -1), windows, hidden)

    def methods(self) -> dict[str, Method]:
        return {"mean": _mean, "straight line": interpolate}


def _mean(inputs: Floats, loss_mask: Floats) -> Floats:
    """Predict the mean of the training part, which is 0."""
    return np.zeros_like(inputs[..., :-1])


def interpolate(inputs: Floats, loss_mask: Floats) -> Floats:
    """Put hidden steps on the line between their visible neighbors.

    >>> inputs = np.array([[[1.0, 0], [0, 1], [3, 0], [0, 1]]], np.float32)
    >>> interpolate(inputs, inputs[..., -1])[0, :, 0].tolist()
    [1.0, 2.0, 3.0, 3.0]
    """
    out = inputs[..., :-1].copy()
    steps = np.arange(out.shape[1])
    for window, hidden in zip(out, loss_mask > 0, strict=True):
        for column in window.T:
            column[hidden] = np.interp(steps[hidden], steps[~hidden], column[~hidden])
    return out
