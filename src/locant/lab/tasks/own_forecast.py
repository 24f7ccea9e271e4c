"""Predict the next step of a user's own series from all steps before it in a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from locant.lab.tasks._own_series import Floats, MaskedWindows, Method, OwnSeries


@dataclass(frozen=True)
class OwnForecast(OwnSeries):
    """Windows of `length` steps; at each step the model predicts the next. The second half of a
    window is scored."""

    causal = True

    @property
    def features(self) -> int:
        return self.outputs

    def mask_windows(self, windows: Floats, draw: np.random.Generator) -> MaskedWindows:
        loss_mask = np.zeros((len(windows), self.length), np.float32)
        loss_mask[:, self.length // 2 :] = 1
        return MaskedWindows(windows[:, :-1], windows[:, 1:], loss_mask)

    def methods(self) -> dict[str, Method]:
        return {"mean": _mean, "last value": _last_value, "straight on": straight_on}


def _mean(inputs: Floats, loss_mask: Floats) -> Floats:
    """Predict the mean of the training part, which is 0."""
    return np.zeros_like(inputs)


def _last_value(inputs: Floats, loss_mask: Floats) -> Floats:
    """Predict that nothing changes."""
    return inputs


def straight_on(inputs: Floats, loss_mask: Floats) -> Floats:
    """Predict that the last change repeats itself.

    >>> inputs = np.array([[[1.0], [3.0], [4.0]]], np.float32)
    >>> straight_on(inputs, np.ones((1, 3), np.float32))[0, :, 0].tolist()
    [1.0, 5.0, 5.0]
    """
    return inputs + np.diff(inputs, axis=1, prepend=inputs[:, :1])
