"""A few queries at a time, in reverse order, over all the keys that they may see or a piece of them; which heads go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

PIECE = 1024  # keys at once; a multiple of the blocks that may be left out (`reach`)
HEADS = 8  # heads at once; with fewer, more keys, up to MOST pieces
MOST = 4
WORTH = 0.75  # of the keys; heads that need less than that of what they would share are done apart


class Rows(NamedTuple):
    """Queries first..last−1, in reverse order, over keys start..keys−1: up to the last that they may see, or a piece of them."""

    first: int
    last: int
    keys: int
    start: int = 0


def rows_of(queries: int, keys: int, causal: bool, at_once: int) -> Iterator[Rows]:
    """All queries, a few at a time, with the keys that they may see."""
    for first in range(0, queries, at_once):
        last = min(queries, first + at_once)
        yield Rows(first, last, last + keys - queries if causal else keys)


def wide(heads: int) -> int:
    """How many keys a piece has: the fewer heads, the more.

    >>> [wide(heads) for heads in (1, 4, 8, 32)]
    [4096, 2048, 1024, 1024]
    """
    return PIECE * min(MOST, max(1, HEADS // heads))


def nearest_first(rows: Rows, width: int, ahead: int) -> list[Rows]:
    """The keys of some queries in pieces, beginning where the queries are: the first of all stands `ahead` keys from key 0."""
    pieces = [rows._replace(keys=min(start + width, rows.keys), start=start) for start in range(0, rows.keys, width)]
    return sorted(pieces, key=lambda piece: abs(piece.start + width // 2 - rows.first - ahead))


def turned_rows(turned: Tensor, rows: Rows) -> Tensor:
    """These rows of a tensor (…, Q, ·) whose queries are in reverse order."""
    queries = turned.shape[-2]
    return turned[..., queries - rows.last : queries - rows.first, :]


def together(needed: list[tuple[int, int]], most: int) -> list[tuple[slice, slice]]:
    """Neighbouring heads that are done at once, and the keys that they need: apart where that saves enough.

    >>> together([(0, 8), (0, 8), (7, 8), (6, 8)], most=8)
    [(slice(0, 2, None), slice(0, 8, None)), (slice(2, 4, None), slice(6, 8, None))]
    """
    groups: list[tuple[int, int, int]] = []  # how many heads, from which key, to which
    alone = 0  # keys that the heads of the last group need, each for itself
    for first, last in needed:
        if groups and groups[-1][0] < most:
            count, low, high = groups[-1]
            low, high = min(low, first), max(high, last)
            if alone + last - first >= WORTH * (count + 1) * (high - low):
                groups[-1], alone = (count + 1, low, high), alone + last - first
                continue
        groups.append((1, first, last))
        alone = last - first
    ends = torch.tensor([count for count, _, _ in groups]).cumsum(0).tolist()
    return [(slice(end - count, end), slice(*keys)) for end, (count, *keys) in zip(ends, groups, strict=True)]
