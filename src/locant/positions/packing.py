"""A mask of packed sequences that is known by their lengths, without a (T,T) tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from locant._internal.checks import whole_number


@dataclass(frozen=True, eq=False)
class SegmentMask:
    """Several sequences in one row, none of which sees another's tokens; a mask for `attend`.

    lengths  of the sequences, in order; together they fill the row
    also     a further boolean mask, True = may be seen, broadcastable to (B,H,T,T)

    Where it pays, each sequence is computed by itself: memory and time grow with the sequences, not
    with the square of the row. Padding at the end of a row is one sequence more; any other
    padding goes into `also`, which `segments & padding` sets.

    >>> SegmentMask((1, 2)).dense().int().tolist()
    [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    """

    lengths: tuple[int, ...]
    also: Tensor | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", check_lengths("SegmentMask", self.lengths))

    def __and__(self, mask: Tensor) -> SegmentMask:
        """Hide what the other mask hides, too."""
        return SegmentMask(self.lengths, mask if self.also is None else self.also & mask)

    def dense(self, queries: int | None = None, device: torch.device | str | None = None) -> Tensor:
        """Make the boolean mask (Q,K), or broadcast with `also`, of the last Q of all tokens."""
        device = device if self.also is None else self.also.device
        owner = owners(self.lengths, device)
        first = 0 if queries is None else len(owner) - queries
        if first < 0:
            raise ValueError(f"a row of {len(owner)} packed tokens has no {queries} queries.")
        seen = owner[first:, None] == owner
        return seen if self.also is None else seen & self.also


Mask = Tensor | SegmentMask


def densify(mask: Mask | None, queries: Tensor) -> Tensor | None:
    """Give any mask as a boolean tensor, for queries (…, Q, ·)."""
    if not isinstance(mask, SegmentMask):
        return mask
    return mask.dense(queries.shape[-2], queries.device)


def owners(lengths: Sequence[int], device: torch.device | str | None = None) -> Tensor:
    """Say which sequence each token belongs to: (T)."""
    size = torch.tensor(lengths, device=device)
    return torch.arange(len(lengths), device=device).repeat_interleave(size)


def check_lengths(owner: str, lengths: Sequence[int] | Tensor) -> tuple[int, ...]:
    """Refuse lengths that are no list of whole numbers from 1 on."""
    if isinstance(lengths, Tensor):
        lengths = lengths.tolist()
    if not isinstance(lengths, Iterable):
        raise ValueError(
            f"{owner} needs a list of lengths, as in {owner}([4, 7]). Got {lengths!r} instead."
        )
    counts = tuple(whole_number(owner, "a length", length) for length in lengths)
    if not counts:
        raise ValueError(f"{owner} needs at least one length.")
    return counts
