"""The plain methods with the same interface as the model: the main patterns of windows, the most similar window, waves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from locant.anomaly.baselines import harmonic, nearest_window
from locant.anomaly.baselines._windows import cut, overlaid
from locant.anomaly.detector.method import Flags, Floats, Stretch

MOST = 10_000  # rows that are kept to compare with, the last ones
BLOCK = 4_096  # rows that waves are fitted to at a time: their sizes and phases may change slowly
FOLDS = 4  # a series that is also what was learnt from is judged in parts, each without itself


class _Twice:
    """What must not be believed is replaced by what was expected at first."""

    def expect(self, series: Stretch, hidden: Flags) -> Floats:
        first = self._expect(series)
        if not hidden.any():
            return first
        return self._expect(series._replace(values=np.where(hidden[:, None], first, series.values)))

    def _expect(self, series: Stretch) -> Floats:
        raise NotImplementedError


class SubPca(_Twice):
    """The main patterns of windows, as in baselines/sub_pca.py, but learnt once."""

    def __init__(self, window: int, components: int = 6) -> None:
        self.window, self.components, self.least = window, components, 2 * window + components

    def fit(self, clean: Stretch) -> None:
        seen = cut(clean.values[-MOST:], self.window).reshape(
            -1, clean.values.shape[1] * self.window
        )  # (N, F·window)
        self.mean = seen.mean(0)
        turned = np.linalg.eigh((seen - self.mean).T @ (seen - self.mean))[1]
        self.patterns = turned[:, ::-1][:, : self.components].T.copy()  # (components, F·window)

    def _expect(self, series: Stretch) -> Floats:
        first = (
            self.window - 1
        )  # rows without a window that ends with them: they are judged from the other side
        lead, rest = series.values[:first], series.values[first:]
        begin = overlaid(
            rest[:first][::-1],
            lead[::-1],
            self.window,
            lambda rows: self._rebuilt(rows[..., ::-1])[..., ::-1],
        )
        return np.concatenate([begin[::-1], overlaid(lead, rest, self.window, self._rebuilt)])

    def _rebuilt(self, windows: Floats) -> Floats:
        apart = windows.reshape(len(windows), -1) - self.mean
        return (self.mean + apart @ self.patterns.T @ self.patterns).reshape(windows.shape)

    def state(self) -> dict[str, Tensor]:
        return {"mean": torch.from_numpy(self.mean), "patterns": torch.from_numpy(self.patterns)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.mean, self.patterns = state["mean"].numpy(), state["patterns"].numpy()


class NearestWindow(_Twice):
    """The most similar window; see baselines/nearest_window.py."""

    def __init__(self, window: int) -> None:
        self.window, self.least = window, 4 * window

    def fit(self, clean: Stretch) -> None:
        self.clean = clean.part(max(0, len(clean.values) - MOST), len(clean.values))

    def _expect(self, series: Stretch) -> Floats:
        first = self.window - 1  # as above
        edges = np.linspace(first, len(series.values), FOLDS + 1).astype(int)
        later = [self._fold(series, start, stop) for start, stop in pairwise(edges)]
        begin = self._nearest(
            self._others(series.at[:first])[::-1], series.values[: 2 * first][::-1]
        )
        return np.concatenate([begin[::-1], *later])

    def _fold(self, series: Stretch, start: int, stop: int) -> Floats:
        """Rows start..stop−1, compared with all that was learnt but themselves."""
        return self._nearest(
            self._others(series.at[start:stop]), series.values[start - self.window + 1 : stop]
        )

    def _nearest(self, lead: Floats, rows: Floats) -> Floats:
        """What is expected of the rows after the first window, which only leads up to them."""
        first = self.window - 1
        return nearest_window.fit(
            np.concatenate([lead, rows[:first]]), rows[first:], window=self.window
        )

    def _others(self, at: Floats) -> Floats:
        """What was learnt, without the rows at these places and their neighbours."""
        away = (self.clean.at < at[0] - self.window) | (self.clean.at > at[-1] + self.window)
        return self.clean.values[away] if away.sum() >= 2 * self.window else self.clean.values

    def state(self) -> dict[str, Tensor]:
        return {
            "values": torch.from_numpy(self.clean.values),
            "at": torch.from_numpy(self.clean.at),
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        self.clean = Stretch(state["values"].numpy(), state["at"].numpy())


class Harmonic:
    """Waves; see baselines/harmonic.py. Their periods are learnt; sizes and phases are found in what is judged.

    season  when it is known: its waves are the season and its parts
    """

    least = 64

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
        return np.concatenate(
            [np.stack([self._column(part, f) for f in range(self.columns)], 1) for part in parts]
        )

    def _column(self, part: Floats, column: int) -> Floats:
        known = [period for period in self.periods[column] if period <= len(part)]
        return harmonic.fit(part[:0, :1], part[:, column : column + 1], periods=known)[:, 0]

    def state(self) -> dict[str, Tensor]:
        return {
            str(column): torch.tensor(found, dtype=torch.float64)
            for column, found in enumerate(self.periods)
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        self.periods = [state[str(column)].tolist() for column in range(self.columns)]
