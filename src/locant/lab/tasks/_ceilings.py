"""Exact ceilings: the best accuracy of a model that sees only part of where the deciding tokens are.

Every way to place them is enumerated. A model that cannot tell two placements apart must give both the same answer, so
the best it can do is the likeliest class of each group. Distractors carry no information and are left out. A real
relative model also sees the ends of a row (how many tokens lie on either side), and may therefore do better than what
is possible with the "ends unseen".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import NamedTuple

EXACT, REACH, BUCKETS = 8, 128, 16  # T5's: exact below 8, logarithmic up to 128, 16 on each side

Marks = tuple[tuple[int, int], ...]  # (token, place) of every token that decides, sorted


class Placement(NamedTuple):
    """One way to place the deciding tokens, its class, and how likely it is."""

    marks: Marks
    label: int
    probability: float


@cache
def bucket(distance: int) -> int:
    """The logarithmic bucket of a signed distance, as a relative bias of the T5 kind shares them.

    >>> [bucket(d) for d in (0, 1, 7, 8, 11, 12, -3)]
    [0, 1, 7, 8, 8, 9, -3]
    """
    size = abs(distance)
    if size >= EXACT:
        size = min(
            BUCKETS - 1,
            EXACT + int(math.log(size / EXACT) / math.log(REACH / EXACT) * (BUCKETS - EXACT)),
        )
    return int(math.copysign(size, distance)) if distance else 0


def ceilings(placements: Iterable[Placement], length: int) -> dict[str, float]:
    """The ceiling of each kind of sight.

    >>> before, after = Placement(((0, 3), (1, 5)), 1, 0.5), Placement(((0, 5), (1, 3)), 0, 0.5)
    >>> ceilings([before, after], 9)["without positions"]
    0.5
    """
    views: dict[str, Callable[[Marks], Hashable]] = {
        "without positions": lambda marks: tuple(token for token, _ in marks),
        "by distances, ends unseen": _moved_to_the_start,
        "blind to direction": lambda marks: min(
            marks, tuple(sorted((t, length - 1 - place) for t, place in marks))
        ),
        "by T5 buckets, ends unseen": lambda marks: tuple(
            sorted((a, b, bucket(q - p)) for a, p in marks for b, q in marks)
        ),
    }
    listed = list(placements)
    return {name: round(_best(listed, view), 9) for name, view in views.items()}


def _moved_to_the_start(marks: Marks) -> Marks:
    first = min(place for _, place in marks)
    return tuple((token, place - first) for token, place in marks)


def _best(placements: list[Placement], view: Callable[[Marks], Hashable]) -> float:
    groups: dict[Hashable, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for marks, label, probability in placements:
        groups[view(marks)][label] += probability
    return math.fsum(max(group.values()) for group in groups.values())
