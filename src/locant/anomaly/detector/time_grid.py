"""Rows on the clock: the time of each row, and the grid on which methods see a series.

A position counts usual time steps since the first clean row. Without times, rows are counted. A
series is regular when its rows stand on a grid of equal steps, however many of them are absent:
methods then see every cell of the grid, and the cells without a value are hidden from them. An
irregular series is read at equal steps of the clock, and predicted at the times of its rows.
Nothing but the values of the file is ever scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series import Series
from locant.anomaly.series.model_input import Units

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ON_GRID = 0.1  # steps within this part of a whole number of steps are on the grid
OFF_GRID = 0.05  # share of steps that may be off the grid
SHORT_STEP = 0.05  # quantile of the steps: the grid's step is about so long
MAX_CELLS = 3  # a row: with more absent cells than that, a series counts as irregular
MAX_GAP = 2_000  # cells; a longer gap is as good as this
SEASONS_BESIDE = 3  # on either side, from which an absent value is filled for a method to see


class Segment(NamedTuple):
    """A part of a series in units of its clean part: values (T,F) and their positions (T,).

    observed  (T,F): False where a value was filled, to be hidden; None when none was
    """

    values: Floats
    positions: Floats
    observed: Flags | None = None

    def part(self, start: int, stop: int) -> Segment:
        """Slice the rows start..stop−1."""
        observed = None if self.observed is None else self.observed[start:stop]
        return Segment(self.values[start:stop], self.positions[start:stop], observed)


@dataclass(frozen=True)
class TimeAxis:
    """The time of the first row and the usual step, in seconds or in the times' own unit."""

    start: Any = None  # datetime64[ns] or float; None without times
    step: float = 1.0
    rows: int = 0  # rows that were counted before; only without times
    regular: bool = True  # whether rows stand on a grid of such steps

    @classmethod
    def of(cls, series: Series) -> TimeAxis:
        """Read the axis from the times of a series."""
        if series.times is None:
            return cls(rows=len(series.values))
        step, regular = find_step(_elapsed(series.times, series.times[0]))
        return cls(series.times[0], step, regular=regular)

    def positions(self, times: NDArray[Any] | None, rows: int, *, training: bool = False) -> Floats:
        """Compute the positions (T,) of rows with these times.

        training  whether these are the rows that the axis was made from

        >>> axis = TimeAxis(np.datetime64("2014-02-14", "ns"), 3600.0)
        >>> axis.positions(np.array(["2014-02-14T02"], "datetime64[ns]"), 1).tolist()
        [2.0]
        """
        if self.start is None:
            return np.arange(rows, dtype=np.float64) + (0 if training else self.rows)
        self._check_kind(times)
        assert times is not None
        return _elapsed(times, self.start) / self.step

    @property
    def dated(self) -> bool:
        """Whether times are dates, so that steps are seconds."""
        return isinstance(self.start, np.datetime64)

    def _check_kind(self, times: NDArray[Any] | None) -> None:
        """Refuse missing times, dates for numbers and numbers for dates."""
        if times is not None and (times.dtype.kind == "M") == self.dated:
            return
        kind = "dates" if self.dated else "plain numbers"
        got = "none" if times is None else f"times of type {times.dtype}"
        raise ValueError(
            f"this detector learned from rows with times ({kind}); here are {got}.\n"
            "  Name the time column: --time."
        )


class Cells(NamedTuple):
    """A part of a series as a method sees it, and where the rows of the file are in it."""

    segment: Segment
    where: Floats  # (T,) the cell of each row; between two cells where rows are irregular

    def nearest(self) -> NDArray[np.int64]:
        """Return the cell (T,) that is nearest to each row."""
        return np.rint(self.where).astype(np.int64)

    def at_rows(self, predicted: Floats) -> Floats:
        """Read predictions of cells (C,F) at the rows, (T,F)."""
        below = np.minimum(self.where.astype(np.int64), len(predicted) - 1)
        above = np.minimum(below + 1, len(predicted) - 1)
        share = (self.where - below)[:, None]
        return np.where(
            share == 0, predicted[below], (1 - share) * predicted[below] + share * predicted[above]
        )


@dataclass(frozen=True)
class Layout:
    """How rows of numbers become what a method sees: their units, their grid, their season."""

    units: Units
    regular: bool = True
    season: int | None = None  # in steps

    def cells(self, values: Floats, positions: Floats, *, takes_times: bool = False) -> Cells:
        """Lay out values (T,F), NaN where nothing was observed, at positions (T,).

        takes_times  whether the method reads the times of rows by itself, without a grid

        >>> layout = Layout(Units(np.zeros(1), np.ones(1)))
        >>> cells = layout.cells(np.array([[1.0], [2.0], [4.0]]), np.array([0.0, 1.0, 3.0]))
        >>> cells.segment.values.ravel().tolist(), cells.segment.observed.ravel().tolist()
        ([1.0, 2.0, 3.0, 4.0], [True, True, False, True])
        """
        seen = self.units.seen(values)
        if takes_times:
            segment = fill_absent(Segment(seen, positions), None)
            return Cells(segment, np.arange(len(seen), dtype=np.float64))
        if self.regular:
            where = np.concatenate([[0], np.cumsum(_whole_steps(positions))])
            grid = np.full((where[-1] + 1, seen.shape[1]), np.nan)
            grid[where] = seen
            times = np.interp(np.arange(len(grid)), where, positions)
        else:
            where = np.concatenate([[0.0], np.cumsum(np.minimum(np.diff(positions), MAX_GAP))])
            grid = _read_at_steps(seen, where)
            times = np.interp(np.arange(len(grid)), where, positions)
        return Cells(fill_absent(Segment(grid, times), self.season), where.astype(np.float64))


def find_step(elapsed: Floats) -> tuple[float, bool]:
    """Find the step of rising times (T,), and whether rows stand on a grid of such steps.

    >>> find_step(np.array([0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 12.0, 13.0]))
    (1.0, True)
    >>> find_step(np.array([0.0, 1.0, 1.5, 3.2, 4.1, 4.3]))
    (0.9, False)
    """
    steps = np.diff(elapsed)
    short = float(np.quantile(steps, SHORT_STEP, method="higher"))
    step = float(np.median(steps[steps < 1.5 * short]))
    whole = np.rint(steps / step)
    off = (np.abs(steps / step - whole) > ON_GRID) | (whole < 1)
    cells = np.clip(whole, 1, MAX_GAP).sum()
    if off.mean() <= OFF_GRID and cells <= MAX_CELLS * len(steps):
        return step, True
    return round(float(np.median(steps)), 9), False


def fill_absent(segment: Segment, season: int | None) -> Segment:
    """Fill values (T,F) that are NaN for a method to see, and flag those that were observed.

    An absent value becomes the median of the values whole seasons before and after it; where
    there is none, it lies on the line between its neighbors.
    """
    values = segment.values
    observed = ~np.isnan(values)
    if observed.all():
        return segment
    filled = values.copy()
    if season is not None:
        absent = np.flatnonzero(~observed.all(1))
        beside = _seasons_beside(values, season, absent)
        filled[absent] = np.where(observed[absent], values[absent], beside)
    rows = np.arange(len(values))
    for column in filled.T:  # a view: filled in place
        known = np.flatnonzero(~np.isnan(column))
        if not len(known):
            column[:] = 0.0
        elif len(known) < len(column):
            column[:] = np.interp(rows, known, column[known])
    return segment._replace(values=filled, observed=observed)


def observed_values(series: Series) -> Floats:
    """Return the values of a series (T,F), NaN where the file holds none."""
    if series.observed is None:
        return series.values
    return np.where(series.observed, series.values, np.nan)


def units_of(values: Floats) -> Units:
    """Take center and scale of each column of values (T,F) from what was observed."""
    columns = []
    for column in values.T:
        known = column[~np.isnan(column)]
        columns.append(Units.of(known[:, None] if len(known) else np.zeros((1, 1))))
    middle, size = zip(*columns, strict=True)
    return Units(np.concatenate(middle), np.concatenate(size))


def find_gaps(positions: Floats) -> list[tuple[int, int]]:
    """List the gaps between rows on a grid: the row before each, and the rows that are absent.

    >>> find_gaps(np.array([0.0, 1.0, 4.0, 5.0]))
    [(1, 2)]
    """
    steps = np.rint(np.diff(positions)).astype(np.int64)
    return [(int(row), int(steps[row]) - 1) for row in np.flatnonzero(steps > 1)]


def _elapsed(times: NDArray[Any], start: Any) -> Floats:
    """Return the seconds since the start, or the difference of plain numbers, (T,)."""
    elapsed = times - start
    if times.dtype.kind == "M":
        elapsed = elapsed / np.timedelta64(1, "s")
    return np.asarray(elapsed, dtype=np.float64)


def _whole_steps(positions: Floats) -> NDArray[np.int64]:
    """Round the steps between positions (T,) to whole cells, from one to the longest gap."""
    return np.clip(np.rint(np.diff(positions)), 1, MAX_GAP).astype(np.int64)


def _read_at_steps(values: Floats, where: Floats) -> Floats:
    """Read irregular values (T,F) at whole steps, (C,F); NaN where no row is within a step."""
    cells = np.arange(int(np.ceil(where[-1])) + 1, dtype=np.float64)
    grid = np.empty((len(cells), values.shape[1]))
    for column in range(values.shape[1]):
        known = ~np.isnan(values[:, column])
        if not known.any():
            grid[:, column] = np.nan
            continue
        at = where[known]
        grid[:, column] = np.interp(cells, at, values[known, column])
        after = np.minimum(np.searchsorted(at, cells), len(at) - 1)
        before = np.maximum(after - 1, 0)
        far = np.minimum(np.abs(at[after] - cells), np.abs(at[before] - cells)) > 1
        grid[far, column] = np.nan
    return grid


def _seasons_beside(values: Floats, season: int, rows: NDArray[np.int64]) -> Floats:
    """Take the median of the values up to three seasons before and after some rows, (rows, F)."""
    shifts = [*range(-SEASONS_BESIDE, 0), *range(1, SEASONS_BESIDE + 1)]
    at = rows + season * np.array(shifts)[:, None]  # (6, rows)
    inside = (at >= 0) & (at < len(values))
    beside = values[np.where(inside, at, 0)]  # (6, rows, F)
    known = inside[..., None] & ~np.isnan(beside)
    median = np.ma.median(np.ma.array(beside, mask=~known), axis=0)
    return np.ma.filled(median, np.nan)
