"""Classical methods behind the common interface: waves, window PCA, similar windows."""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant.anomaly.baselines import harmonic, nearest_window
from locant.anomaly.baselines._windows import cut, overlaid
from locant.anomaly.detector.methods.base import Method, TrainingData
from locant.anomaly.detector.segments import Flags, Floats, Segment

MAX_REFERENCE_ROWS = 10_000  # rows that windows are compared with: the last ones
WAVE_BLOCK = 4_096  # rows that waves are fitted to at a time: amplitudes and phases may drift
FOLDS = 4  # a series that was also learned from is scored in parts, each without itself
MAX_WINDOW_VALUES = 1_024  # values in a window of all columns


class Harmonic(Method):
    """Predict by waves, as in baselines/harmonic.py: their periods are learned.

    Amplitudes and phases are fitted to the rows that are scored.

    season  in rows, when it is known: the waves are the season and its fractions
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
        parts = np.array_split(series.values, blocks)
        return np.concatenate([self._predict_block(part) for part in parts])

    def _predict_block(self, part: Floats) -> Floats:
        columns = [self._predict_column(part, column) for column in range(self.columns)]
        return np.stack(columns, 1)

    def _predict_column(self, part: Floats, column: int) -> Floats:
        known = [period for period in self.periods[column] if period <= len(part)]
        return harmonic.fit(part[:0, :1], part[:, column : column + 1], periods=known)[:, 0]

    def state(self) -> dict[str, Tensor]:
        periods = enumerate(self.periods)
        return {str(column): torch.tensor(found, dtype=torch.float64) for column, found in periods}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.periods = [state[str(column)].tolist() for column in range(self.columns)]


class _WindowMethod(Method):
    """A method that predicts by windows; hidden rows are replaced by what it predicted at first."""

    @classmethod
    def options(cls, data: TrainingData, encoding: str) -> dict[str, Any]:
        shortest = int(np.clip(MAX_WINDOW_VALUES // data.columns, 4, 16))
        longest = max(shortest, min(128, data.rows // 10, MAX_WINDOW_VALUES // data.columns))
        return {"window": int(np.clip(data.season or 64, shortest, longest))}

    def predict(self, series: Segment, hidden: Flags) -> Floats:
        first = self._predict(series)
        if not hidden.any():
            return first
        replaced = np.where(hidden[:, None], first, series.values)
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
        windows = cut(clean.values[-MAX_REFERENCE_ROWS:], self.window).reshape(-1, width)
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
        values, positions = self.clean
        return {"values": torch.from_numpy(values), "at": torch.from_numpy(positions)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.clean = Segment(state["values"].numpy(), state["at"].numpy())
