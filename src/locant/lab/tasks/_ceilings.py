"""Exact ceilings: the best accuracy of a model that sees only part of where the deciding tokens
are.

Every arrangement of the deciding tokens is enumerated. A model that cannot tell two arrangements
apart must give both the same answer, so the best it can do is the likeliest class of each group.
Distractors carry no information and are left out. A real relative model also sees the ends of a row
(how many tokens are on either side), and may therefore do better than a ceiling with the "ends
unseen".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import NamedTuple

# T5's buckets: distances below 8 exact, logarithmic up to 128, 16 buckets on each side.
EXACT_BELOW, MAX_DISTANCE, BUCKETS = 8, 128, 16

Markers = tuple[tuple[int, int], ...]  # (token, position) of every token that decides, sorted


class Arrangement(NamedTuple):
    """One way to arrange the deciding tokens, its class, and its probability."""

    markers: Markers
    label: int
    probability: float


@cache
def bucket(distance: int) -> int:
    """Return the logarithmic bucket of a signed distance, as T5's relative bias shares them.

    >>> [bucket(d) for d in (0, 1, 7, 8, 11, 12, -3)]
    [0, 1, 7, 8, 8, 9, -3]
    """
    size = abs(distance)
    if size >= EXACT_BELOW:
        growth = math.log(size / EXACT_BELOW) / math.log(MAX_DISTANCE / EXACT_BELOW)
        size = min(BUCKETS - 1, EXACT_BELOW + int(growth * (BUCKETS - EXACT_BELOW)))
    return int(math.copysign(size, distance)) if distance else 0


def ceilings(arrangements: Iterable[Arrangement], length: int) -> dict[str, float]:
    """Compute the best accuracy for each part of the positions that a model may see.

    >>> before = Arrangement(((0, 3), (1, 5)), 1, 0.5)
    >>> after = Arrangement(((0, 5), (1, 3)), 0, 0.5)
    >>> ceilings([before, after], 9)["without positions"]
    0.5
    """
    views: dict[str, Callable[[Markers], Hashable]] = {
        "without positions": _tokens_alone,
        "by distances, ends unseen": _moved_to_the_start,
        "blind to direction": lambda markers: min(markers, _mirrored(markers, length)),
        "by T5 buckets, ends unseen": _pair_buckets,
    }
    listed = list(arrangements)
    return {name: round(_best_accuracy(listed, view), 9) for name, view in views.items()}


def _tokens_alone(markers: Markers) -> Hashable:
    return tuple(token for token, _ in markers)


def _moved_to_the_start(markers: Markers) -> Markers:
    first = min(pos for _, pos in markers)
    return tuple((token, pos - first) for token, pos in markers)


def _mirrored(markers: Markers, length: int) -> Markers:
    return tuple(sorted((token, length - 1 - pos) for token, pos in markers))


def _pair_buckets(markers: Markers) -> Hashable:
    pairs = [(a, b, bucket(q - p)) for a, p in markers for b, q in markers]
    return tuple(sorted(pairs))


def _best_accuracy(arrangements: list[Arrangement], view: Callable[[Markers], Hashable]) -> float:
    """Sum the probability of the likeliest class over the groups that a view cannot tell apart."""
    groups: dict[Hashable, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for markers, label, probability in arrangements:
        groups[view(markers)][label] += probability
    return math.fsum(max(group.values()) for group in groups.values())
