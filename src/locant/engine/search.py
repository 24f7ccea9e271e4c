"""The search of one row for one reported seed: which rates are tried, which are left to later searches, which is taken.

Every reported seed has a search of its own, by a seed of its own that is not reported. So the luck of a search is in
the spread of the scores, and every interval and every test knows of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Point = tuple[float, float]  # times the learning rate, times the positional tensors' own
Values = Mapping[Point, float]  # the lower, the better

CONTENDERS = 2  # so many of the best on average stay in the race, and all that have won once


def points(rates: Sequence[float], positional: Sequence[float], *, learns: bool) -> list[Point]:
    """What is tried, the study's own rates first: as many points for a row that learns nothing positional.

    >>> points([1.0, 3.0], [1.0, 10.0], learns=True)
    [(1.0, 1.0), (3.0, 1.0), (1.0, 10.0), (3.0, 10.0)]
    >>> points([1.0, 3.0], [1.0, 10.0], learns=False)
    [(1.0, 1.0), (0.3333333333333333, 1.0), (3.0, 1.0), (9.0, 1.0)]
    """
    if learns:
        listed = [(rate, own) for rate in rates for own in positional]
    else:
        listed = [(rate, 1.0) for rate in spread(rates, len(rates) * len(positional))]
    return sorted(listed, key=lambda point: (round(_distance(point), 9), point))


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
    return min(values, key=lambda point: (values[point], _distance(point)))


def contenders(searches: Sequence[Values]) -> list[Point]:
    """The points that later searches still try: whatever won one of these, and the best two on average.

    >>> contenders([{(1.0, 1.0): 0.1, (3.0, 1.0): 0.2, (9.0, 1.0): 0.9}, {(1.0, 1.0): 0.3, (3.0, 1.0): 0.2, (9.0, 1.0): 0.9}])
    [(1.0, 1.0), (3.0, 1.0)]
    """
    mean = {point: sum(values[point] for values in searches) / len(searches) for point in searches[0]}
    leading = sorted(mean, key=lambda point: (mean[point], _distance(point)))[:CONTENDERS]
    kept = {*leading, *(best(values) for values in searches)}
    return [point for point in searches[0] if point in kept]


def fixed(listed: Sequence[Point]) -> list[Point]:
    """A few points of the grid to hold a choice against: the positional rates at one rate, or the nearest three rates.

    >>> fixed(points([1.0, 3.0], [1.0, 10.0], learns=True)), fixed(points([1.0, 3.0], [1.0, 10.0], learns=False))[2]
    ([(1.0, 1.0), (1.0, 10.0)], (3.0, 1.0))
    """
    same = [point for point in listed if point[0] == listed[0][0]]
    return same if len(same) > 1 else list(listed[:3])


def most_chosen(chosen: Sequence[Point]) -> Point:
    """What most searches took, of equals the first.

    >>> most_chosen([(1.0, 10.0), (3.0, 1.0), (1.0, 10.0)])
    (1.0, 10.0)
    """
    return max(chosen, key=chosen.count)


def _distance(point: Point) -> float:
    """How far a point lies from the study's own rates."""
    return sum(abs(math.log(part)) for part in point)
