"""Blocks of queries in reverse order, pieces of the keys, and which heads are computed at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

KEYS_AT_ONCE = 1024  # a piece of the keys; a multiple of the blocks that may be pruned
HEADS_AT_ONCE = 8  # with fewer heads a piece has more keys, up to MAX_PIECE times as many
MAX_PIECE = 4
MIN_SHARED_KEYS = 0.75  # heads that need less than this share of the keys they would share go apart


class QueryBlock(NamedTuple):
    """Queries first..last−1 in reverse order, over keys start..keys−1.

    `keys` ends at the last key that the queries may see, or at the end of a piece of the keys.
    """

    first: int
    last: int
    keys: int
    start: int = 0


def query_blocks(queries: int, keys: int, causal: bool, at_once: int) -> Iterator[QueryBlock]:
    """Cut all queries into blocks, each with the keys that it may see."""
    for first in range(0, queries, at_once):
        last = min(queries, first + at_once)
        yield QueryBlock(first, last, last + keys - queries if causal else keys)


def piece_width(heads: int) -> int:
    """Say how many keys a piece has: the fewer heads, the more.

    >>> [piece_width(heads) for heads in (1, 4, 8, 32)]
    [4096, 2048, 1024, 1024]
    """
    return KEYS_AT_ONCE * min(MAX_PIECE, max(1, HEADS_AT_ONCE // heads))


def nearest_pieces_first(block: QueryBlock, width: int, ahead: int) -> list[QueryBlock]:
    """Cut the keys of a block into pieces, ordered from where its queries are.

    ahead  how many keys come before the first query of all
    """
    pieces = []
    for start in range(0, block.keys, width):
        pieces.append(block._replace(keys=min(start + width, block.keys), start=start))
    return sorted(pieces, key=lambda piece: abs(piece.start + width // 2 - block.first - ahead))


def slice_reversed(reversed_queries: Tensor, block: QueryBlock) -> Tensor:
    """Slice a block out of a tensor (…, Q, ·) whose queries are in reverse order."""
    queries = reversed_queries.shape[-2]
    return reversed_queries[..., queries - block.last : queries - block.first, :]


def group_heads(needed: list[tuple[int, int]], limit: int) -> list[tuple[slice, slice]]:
    """Group neighboring heads by the range (first, last) of keys that they need.

    Heads go apart where sharing the keys would compute too much for nothing.

    >>> group_heads([(0, 8), (0, 8), (7, 8), (6, 8)], limit=8)
    [(slice(0, 2, None), slice(0, 8, None)), (slice(2, 4, None), slice(6, 8, None))]
    """
    groups: list[tuple[int, int, int]] = []  # how many heads, from which key, to which
    alone = 0  # keys that the heads of the last group need, each for itself
    for first, last in needed:
        if groups and groups[-1][0] < limit:
            count, low, high = groups[-1]
            low, high = min(low, first), max(high, last)
            if alone + last - first >= MIN_SHARED_KEYS * (count + 1) * (high - low):
                groups[-1] = (count + 1, low, high)
                alone += last - first
                continue
        groups.append((1, first, last))
        alone = last - first
    ends = torch.tensor([count for count, _, _ in groups]).cumsum(0).tolist()
    return [
        (slice(end - count, end), slice(*keys))
        for end, (count, *keys) in zip(ends, groups, strict=True)
    ]
