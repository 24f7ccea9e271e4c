"""The plain methods behind the same door as the model: waves, the main patterns of windows, the most similar window.

What must not be believed is replaced by what was expected without that knowledge, and the method is asked again.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from locant.baselines import harmonic, nearest_window, sub_pca
from locant.detection.method import Flags, Floats, Stretch

MOST = 10_000  # rows that are kept to compare with, the last ones
BLOCK = 4_096  # rows that waves are fitted to at a time: their sizes and phases may change slowly
FOLDS = 4  # a series that is also what was learnt from is judged in parts, each without itself


class _Kept:
    """What was learnt is the clean stretch itself."""

    clean: Stretch

    def fit(self, clean: Stretch) -> None:
        self.clean = clean.part(max(0, len(clean.values) - MOST), len(clean.values))

    def state(self) -> dict[str, Tensor]:
        return {"values": torch.from_numpy(self.clean.values), "at": torch.from_numpy(self.clean.at)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.clean = Stretch(state["values"].numpy(), state["at"].numpy())

    def expect(self, series: Stretch, hidden: Flags) -> Floats:
        first = self._expect(series)
        if not hidden.any():
            return first
        return self._expect(series._replace(values=np.where(hidden[:, None], first, series.values)))

    def _expect(self, series: Stretch) -> Floats:
        raise NotImplementedError


class SubPca(_Kept):
    """The main patterns of windows; see baselines/sub_pca.py."""

    def __init__(self, window: int, components: int = 6) -> None:
        self.window, self.components, self.least = window, components, window + components

    def _expect(self, series: Stretch) -> Floats:
        before = series.values[: self.window - 1][::-1]  # mirrored: the first points need windows too
        whole = np.concatenate([self.clean.values, before])
        return sub_pca.fit(whole, series.values, window=self.window, components=self.components)


class NearestWindow(_Kept):
    """The most similar window; see baselines/nearest_window.py."""

    def __init__(self, window: int) -> None:
        self.window, self.least = window, 4 * window

    def _expect(self, series: Stretch) -> Floats:
        edges = np.linspace(0, len(series.values), FOLDS + 1).astype(int)
        return np.concatenate([self._fold(series, a, b) for a, b in pairwise(edges)])

    def _fold(self, series: Stretch, start: int, stop: int) -> Floats:
        """Rows start..stop−1, compared with all that was learnt but themselves."""
        clean, at = self.clean, series.at[start:stop]
        other = (clean.at < at[0] - self.window) | (clean.at > at[-1] + self.window)
        lead = clean.values[other] if other.sum() >= 2 * self.window else clean.values
        before = series.values[max(0, start - self.window + 1) : start]
        before = np.concatenate([series.values[start : start + self.window - 1 - len(before)][::-1], before])
        return nearest_window.fit(np.concatenate([lead, before]), series.values[start:stop], window=self.window)


class Harmonic:
    """Waves; see baselines/harmonic.py. Their periods are learnt; sizes and phases are found in what is judged.

    season  when it is known: its waves are the season and its parts
    """

    least = 32

    def __init__(self, columns: int, season: float | None = None, waves: int = 8) -> None:
        self.columns, self.waves, self.season = columns, waves, season
        self.periods: list[list[float]] = [[] for _ in range(columns)]

    def fit(self, clean: Stretch) -> None:
        if self.season is not None:
            parts = [self.season / k for k in range(1, self.waves // 2 + 1)]
            self.periods = [[part for part in parts if part >= 2]] * self.columns
            return
        recent = clean.values[-BLOCK:]
        self.periods = [harmonic.find_periods(column, components=self.waves) for column in recent.T]

    def expect(self, series: Stretch, hidden: Flags) -> Floats:
        """The fit believes no point that stands out, so that what is hidden makes no difference."""
        blocks = max(1, round(len(series.values) / BLOCK))
        parts = np.array_split(series.values, blocks)
        return np.concatenate([np.stack([self._column(part, f) for f in range(self.columns)], 1) for part in parts])

    def _column(self, part: Floats, column: int) -> Floats:
        known = [period for period in self.periods[column] if period <= len(part)]
        return harmonic.fit(part[:0, :1], part[:, column : column + 1], periods=known)[:, 0]

    def state(self) -> dict[str, Tensor]:
        return {str(column): torch.tensor(found, dtype=torch.float64) for column, found in enumerate(self.periods)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.periods = [state[str(column)].tolist() for column in range(self.columns)]
