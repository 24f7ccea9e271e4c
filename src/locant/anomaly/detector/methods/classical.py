"""Classical methods behind the common interface: waves, window PCA, similar windows."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant.anomaly.baselines import harmonic, nearest_window
from locant.anomaly.baselines._robust import regress
from locant.anomaly.baselines._windows import cut, overlaid
from locant.anomaly.detector.methods.base import Method, TrainingData
from locant.anomaly.detector.time_grid import Flags, Floats, Segment
from locant.anomaly.metrics.events import events

MAX_REFERENCE_ROWS = 10_000  # rows that windows are compared with: the last ones
WAVE_BLOCK = 4_096  # rows that waves are fitted to at a time: amplitudes and phases may drift
WAVE_REPEATS = 3  # how often the longest wave is seen in the context of a stream
FOLDS = 4  # a series that was also learned from is scored in parts, each without itself
MIN_OBSERVED = 0.5  # of the values of a window; nothing is learned from others
MAX_WINDOW_VALUES = 1_024  # values in a window of all columns


class Harmonic(Method):
    """Predict by waves, as in baselines/harmonic.py: their periods are learned.

    Amplitudes and phases are fitted to the rows that are scored.

    season  in steps, when it is known: the waves are the season and its fractions
    """

    name = "harmonic"
    min_rows = 64

    @classmethod
    def options(cls, data: TrainingData, encoding: str) -> dict[str, Any]:
        return {"columns": data.columns, "season": data.given_season}

    def __init__(self, columns: int, season: float | None = None, waves: int = 8) -> None:
        self.columns, self.waves, self.season = columns, waves, season
        self.periods: list[list[float]] = [[] for _ in range(columns)]

    def fit(self, clean: Segment) -> None:
        if self.season is not None:
            fractions = [self.season / k for k in range(1, self.waves // 2 + 1)]
            self.periods = [[period for period in fractions if period >= 2]] * self.columns
            return
        recent = clean.values[-WAVE_BLOCK:]
        self.periods = [harmonic.find_periods(column, components=self.waves) for column in recent.T]

    def predict(self, series: Segment, hidden: Flags) -> Floats:
        """Fit the waves robustly: rows that stand out have no weight, so hidden rows need none."""
        blocks = max(1, round(len(series.values) / WAVE_BLOCK))
        edges = np.linspace(0, len(series.values), blocks + 1).astype(int)
        parts = [series.part(start, stop) for start, stop in pairwise(edges)]
        return np.concatenate([self._predict_block(part) for part in parts])

    def _predict_block(self, part: Segment) -> Floats:
        columns = [self._predict_column(part, column) for column in range(self.columns)]
        return np.stack(columns, 1)

    def _predict_column(self, part: Segment, column: int) -> Floats:
        """Fit the waves by the clock to what was observed; predict every row, (T,)."""
        values = part.values[:, column]
        known = np.ones(len(values), np.bool_)
        if part.observed is not None:
            known = part.observed[:, column]
        periods = [period for period in self.periods[column] if period <= len(values)]
        waves = _waves(part.positions, periods)
        if known.sum() < 2 * waves.shape[1]:
            return np.full(len(values), np.median(values))
        return waves @ regress(waves[known], values[known])[0]

    def context_rows(self) -> int:
        """Return the rows in which the longest wave is seen often enough to be fitted."""
        longest = max((period for column in self.periods for period in column), default=0)
        return max(super().context_rows(), min(math.ceil(WAVE_REPEATS * longest), WAVE_BLOCK))

    def state(self) -> dict[str, Tensor]:
        periods = enumerate(self.periods)
        return {str(column): torch.tensor(found, dtype=torch.float64) for column, found in periods}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.periods = [state[str(column)].tolist() for column in range(self.columns)]


def _waves(positions: Floats, periods: Sequence[float]) -> Floats:
    """Stack 1, t, and the cosine and sine of each period at positions (T,): (T, 2 + 2·waves)."""
    time = positions - (positions[0] + positions[-1]) / 2  # the trend is then near orthogonal to 1
    angle = 2 * np.pi * time[:, None] / np.array(periods)  # (T, waves)
    waves = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(len(time), -1)
    return np.concatenate([np.ones((len(time), 1)), time[:, None] / len(time), waves], axis=1)


class _WindowMethod(Method):
    """A method that predicts by windows; what is hidden is replaced by what it predicted first."""

    @classmethod
    def options(cls, data: TrainingData, encoding: str) -> dict[str, Any]:
        shortest = int(np.clip(MAX_WINDOW_VALUES // data.columns, 4, 16))
        longest = max(shortest, min(128, data.rows // 10, MAX_WINDOW_VALUES // data.columns))
        return {"window": int(np.clip(data.season or 64, shortest, longest))}

    def predict(self, series: Segment, hidden: Flags) -> Floats:
        first = self._predict(series)
        concealed = np.broadcast_to(hidden[:, None], series.values.shape)
        if series.observed is not None:
            concealed = concealed | ~series.observed
        if not concealed.any():
            return first
        replaced = np.where(concealed, first, series.values)
        return self._predict(series._replace(values=replaced))

    @abstractmethod
    def _predict(self, series: Segment) -> Floats:
        """Predict every row, (T,F)."""


class SubPca(_WindowMethod):
    """Rebuild windows from their principal components, as in baselines/sub_pca.py, learned once."""

    name = "sub-pca"

    def __init__(self, window: int, components: int = 6) -> None:
        self.window, self.components = window, components
        self.min_rows = 2 * window + components

    def fit(self, clean: Segment) -> None:
        width = clean.values.shape[1] * self.window
        recent = clean.part(max(0, len(clean.values) - MAX_REFERENCE_ROWS), len(clean.values))
        windows = cut(recent.values, self.window).reshape(-1, width)
        if recent.observed is not None:
            known = cut(recent.observed, self.window).reshape(-1, width).mean(1) >= MIN_OBSERVED
            if known.sum() >= self.min_rows:
                windows = windows[known]
        self.mean = windows.mean(0)
        vectors = np.linalg.eigh((windows - self.mean).T @ (windows - self.mean))[1]
        self.patterns = vectors[:, ::-1][:, : self.components].T.copy()  # (components, F·window)

    def _predict(self, series: Segment) -> Floats:
        """Overlay the rebuilt windows; the first rows end no window and are predicted backwards."""
        first = self.window - 1
        lead, rest = series.values[:first], series.values[first:]
        backwards = overlaid(rest[:first][::-1], lead[::-1], self.window, self._rebuild_reversed)
        return np.concatenate([backwards[::-1], overlaid(lead, rest, self.window, self._rebuild)])

    def _rebuild(self, windows: Floats) -> Floats:
        centered = windows.reshape(len(windows), -1) - self.mean
        return (self.mean + centered @ self.patterns.T @ self.patterns).reshape(windows.shape)

    def _rebuild_reversed(self, windows: Floats) -> Floats:
        return self._rebuild(windows[..., ::-1])[..., ::-1]

    def state(self) -> dict[str, Tensor]:
        return {"mean": torch.from_numpy(self.mean), "patterns": torch.from_numpy(self.patterns)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.mean, self.patterns = state["mean"].numpy(), state["patterns"].numpy()


class NearestWindow(_WindowMethod):
    """Predict by the most similar window that was learned; see baselines/nearest_window.py."""

    name = "nearest-window"

    def __init__(self, window: int) -> None:
        self.window, self.min_rows = window, 4 * window

    def fit(self, clean: Segment) -> None:
        if clean.observed is not None:
            clean = self._without_long_gaps(clean, np.asarray(clean.observed.any(1)))
        rows = len(clean.values)
        self.clean = clean.part(max(0, rows - MAX_REFERENCE_ROWS), rows)

    def _predict(self, series: Segment) -> Floats:
        """Predict in folds; the first rows end no window and are predicted backwards."""
        first = self.window - 1
        edges = np.linspace(first, len(series.values), FOLDS + 1).astype(int)
        later = [self._predict_fold(series, start, stop) for start, stop in pairwise(edges)]
        reference = self._reference(series.positions[:first])
        backwards = self._nearest(reference[::-1], series.values[: 2 * first][::-1])
        return np.concatenate([backwards[::-1], *later])

    def _without_long_gaps(self, clean: Segment, observed: Flags) -> Segment:
        """Leave out gaps of half a window or more: nothing should be found similar to them."""
        kept = np.ones(len(observed), np.bool_)
        for start, stop in events(~observed):
            kept[start:stop] = stop - start < MIN_OBSERVED * self.window
        if kept.sum() < self.min_rows:
            return clean
        return Segment(clean.values[kept], clean.positions[kept])

    def _predict_fold(self, series: Segment, start: int, stop: int) -> Floats:
        """Compare the rows start..stop−1 with everything that was learned except themselves."""
        reference = self._reference(series.positions[start:stop])
        return self._nearest(reference, series.values[start - self.window + 1 : stop])

    def _nearest(self, reference: Floats, rows: Floats) -> Floats:
        """Predict the rows after the first window, which only leads up to them."""
        first = self.window - 1
        lead = np.concatenate([reference, rows[:first]])
        return nearest_window.fit(lead, rows[first:], window=self.window)

    def _reference(self, positions: Floats) -> Floats:
        """Return the learned rows without those near these positions, unless too few remain."""
        before = self.clean.positions < positions[0] - self.window
        after = self.clean.positions > positions[-1] + self.window
        outside = before | after
        sufficient = outside.sum() >= 2 * self.window
        return self.clean.values[outside] if sufficient else self.clean.values

    def state(self) -> dict[str, Tensor]:
        values, positions = self.clean.values, self.clean.positions
        return {"values": torch.from_numpy(values), "at": torch.from_numpy(positions)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.clean = Segment(state["values"].numpy(), state["at"].numpy())
