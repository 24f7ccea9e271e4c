"""The grid of a search: multiples of the rate, and of the positional tensors' own rate; it grows around the best point."""

from __future__ import annotations

import math
from collections.abc import Mapping

Point = tuple[float, float]  # times the rate, times the positional rate
Grid = tuple[tuple[float, ...], tuple[float, ...]]  # the values of each, in ascending order


def points(grid: Grid) -> list[Point]:
    """Every combination."""
    return [(rate, positional) for rate in grid[0] for positional in grid[1]]


def best(values: Mapping[Point, float]) -> Point:
    """The point of the highest value; of equals the one nearest to what the study says (1, 1).

    >>> best({(0.3, 1.0): 0.9, (1.0, 1.0): 0.9, (3.0, 1.0): 0.5})
    (1.0, 1.0)
    """
    return max(values, key=lambda point: (values[point], -sum(abs(math.log(part)) for part in point)))


def widened(grid: Grid, values: Mapping[Point, float]) -> Grid:
    """The grid, one step wider on each side on which the best lies, unless a point further in is as good.

    >>> widened(((1.0, 3.0), (1.0,)), {(1.0, 1.0): 0.5, (3.0, 1.0): 0.9})
    ((1.0, 3.0, 9.0), (1.0,))
    >>> widened(((1.0, 3.0), (1.0,)), {(1.0, 1.0): 0.9, (3.0, 1.0): 0.9})
    ((1.0, 3.0), (1.0,))
    """
    rates, positional = (_wider(grid[part], part, values) for part in (0, 1))
    return rates, positional


def around(grid: Grid, values: Mapping[Point, float]) -> list[Point]:
    """The neighbours of the best point that have not been tried: a cross, not whole rows of a wider grid.

    >>> around(((1.0, 3.0, 9.0), (0.1, 1.0, 10.0)), {(1.0, 1.0): 0.5, (3.0, 1.0): 0.9, (1.0, 10.0): 0.4, (3.0, 10.0): 0.6})
    [(9.0, 1.0), (3.0, 0.1)]
    """
    top = best(values)
    rates, positional = (_beside(axis, value) for axis, value in zip(grid, top, strict=True))
    cross = [(rate, top[1]) for rate in rates] + [(top[0], own) for own in positional]
    return [point for point in cross if point not in values]


def _beside(axis: tuple[float, ...], value: float) -> tuple[float, ...]:
    at = axis.index(value)
    return axis[max(at - 1, 0) : at] + axis[at + 1 : at + 2]


def _wider(axis: tuple[float, ...], part: int, values: Mapping[Point, float]) -> tuple[float, ...]:
    top = best(values)
    if len(axis) == 1 or any(values[point] == values[top] for point in values if point[part] != top[part]):
        return axis
    if top[part] == axis[-1]:
        return (*axis, axis[-1] * axis[-1] / axis[-2])
    if top[part] == axis[0]:
        return (axis[0] * axis[0] / axis[1], *axis)
    return axis
