"""The search of one row for one reported seed: which rates are tried, and which are taken.

Every reported seed has a search of its own, by a seed of its own that is not reported. So the luck
of a search is in the spread of the scores, and every interval and every test knows of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Point = tuple[float, float]  # times the learning rate, times the positional tensors' own
Values = Mapping[Point, float]  # the lower, the better


def points(rates: Sequence[float], positional: Sequence[float], *, learns: bool) -> list[Point]:
    """A cross: every positional rate at the study's own learning rate, and the other learning rates
    at the middle one.

    A row that learns nothing positional gets as many tries, all of them learning rates.

    >>> points([1.0, 3.0], [1.0, 10.0, 100.0], learns=True)
    [(1.0, 10.0), (3.0, 10.0), (1.0, 1.0), (1.0, 100.0)]
    >>> [round(rate, 2) for rate, _ in points([1.0, 3.0], [1.0, 10.0, 100.0], learns=False)]
    [1.0, 0.33, 3.0, 9.0]
    """
    own = min(rates, key=lambda rate: abs(math.log(rate)))
    middle = sorted(positional)[len(positional) // 2]
    cross = [(own, times) for times in positional] + [
        (rate, middle) for rate in rates if rate != own
    ]
    if not learns:
        middle, cross = 1.0, [(rate, 1.0) for rate in spread(rates, len(cross))]
    return sorted(cross, key=lambda point: (_distance(point, (own, middle)), point))


def spread(rates: Sequence[float], count: int) -> list[float]:
    """So many rates: those given, then further ones at the same ratio, below and above by turns.

    >>> [round(rate, 2) for rate in spread([1.0, 3.0], 6)]
    [0.11, 0.33, 1.0, 3.0, 9.0, 27.0]
    """
    listed = sorted(rates)
    ratio = listed[-1] / listed[-2] if len(listed) > 1 else 3.0
    while len(listed) < count:
        low = (len(listed) - len(rates)) % 2 == 0
        listed = [listed[0] / ratio, *listed] if low else [*listed, listed[-1] * ratio]
    return listed


def best(values: Values) -> Point:
    """The point of the lowest value; of equals the one nearest to what the study says.

    >>> best({(0.3, 1.0): 0.1, (1.0, 1.0): 0.1, (3.0, 1.0): 0.5})
    (1.0, 1.0)
    """
    return min(values, key=lambda point: (values[point], _distance(point, (1.0, 1.0))))


def fixed(listed: Sequence[Point]) -> list[Point]:
    """A few points of the grid to hold a choice against: the positional rates at one rate, or the
    nearest three rates.

    >>> fixed(points([1.0, 3.0], [1.0, 10.0], learns=True))
    [(1.0, 10.0), (1.0, 1.0)]
    >>> len(fixed(points([1.0, 3.0], [1.0, 10.0, 100.0], learns=False)))
    3
    """
    same = [point for point in listed if point[0] == listed[0][0]]
    return same if len(same) > 1 else list(listed[:3])


def _distance(point: Point, other: Point) -> float:
    return round(sum(abs(math.log(a / b)) for a, b in zip(point, other, strict=True)), 9)
