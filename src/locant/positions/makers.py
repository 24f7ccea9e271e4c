"""Make positions: plain tensors, (T) for every row of a batch or (B,T) with a row for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from locant._internal.checks import whole_number
from locant.positions.packing import SegmentMask, check_lengths


@dataclass(frozen=True, eq=False)
class Packed:
    """Several sequences in one row: positions (T), and two masks that keep the sequences apart.

    segments  knows the lengths alone: no memory for pairs of tokens
    mask      the boolean (T,T) tensor, made when it is asked for
    """

    positions: Tensor
    segments: SegmentMask

    @property
    def mask(self) -> Tensor:
        return self.segments.dense(device=self.positions.device)

    def __iter__(self) -> Iterator[Tensor]:
        """Unpack as `pos, mask = packed(…)`."""
        return iter((self.positions, self.mask))


def consecutive(length: int, *, start: int = 0, device: torch.device | str | None = None) -> Tensor:
    """start, start + 1, …: (T).

    >>> consecutive(4).tolist()
    [0, 1, 2, 3]
    """
    whole_number("consecutive", "length", length, least=0)
    return torch.arange(start, start + length, device=device)


def from_mask(mask: Tensor, *, start: int = 0) -> Tensor:
    """Count the real tokens of each padded row from `start`, wherever the padding is: (B,T).

    mask   boolean, True where there is a token
    start  the position of a row's first token, 2 for RoBERTa and its kin; padding gets it too, so
           that no position is outside a table

    >>> from_mask(torch.tensor([[False, False, True, True], [True, True, True, False]])).tolist()
    [[0, 0, 0, 1], [0, 1, 2, 0]]
    >>> from_mask(torch.tensor([[False, True, True]]), start=2).tolist()
    [[2, 2, 3]]
    """
    whole_number("from_mask", "start", start, least=0)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(
            f"a mask is a boolean tensor, True where there is a token. Got {kind}: write "
            "mask.bool()."
        )
    if mask.dim() not in (1, 2):
        raise ValueError(f"a mask has the shape (T) or (B,T). Got {tuple(mask.shape)} instead.")
    return (mask.long().cumsum(-1) - 1).clamp_min(0) * mask + start


def packed(
    lengths: Sequence[int] | Tensor, *, start: int = 0, device: torch.device | str | None = None
) -> Packed:
    """Pack several sequences into one row: positions restart, and no sequence sees another's
    tokens.

    start  the position of the first token of every sequence, 2 for RoBERTa and its kin

    >>> packed([2, 3]).positions.tolist()
    [0, 1, 0, 1, 2]
    >>> packed([2, 3], start=2).positions.tolist()
    [2, 3, 2, 3, 4]
    >>> packed([1, 2]).mask.int().tolist()
    [[1, 0, 0], [0, 1, 1], [0, 1, 1]]

    For long rows give attention `mask=packed(…).segments`: no (T,T) mask is made then.
    """
    whole_number("packed", "start", start, least=0)
    counts = check_lengths("packed", lengths)
    size = torch.tensor(counts, device=device)
    first = (size.cumsum(0) - size).repeat_interleave(size)  # (T): where the sequence begins
    positions = torch.arange(len(first), device=device) - first + start
    return Packed(positions, SegmentMask(counts))


def grid(*sizes: int, device: torch.device | str | None = None) -> Tensor:
    """The cells of a grid, row by row: (h·w, 2) for a plane, (t·h·w, 3) for a volume.

    >>> grid(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if len(sizes) < 2:
        raise ValueError(f"a grid has two sizes or more, as in grid(8, 8). Got {sizes!r} instead.")
    axes = [torch.arange(whole_number("grid", "a size", size), device=device) for size in sizes]
    return torch.cartesian_prod(*axes)


def centered_grid(*sizes: int, device: torch.device | str | None = None) -> Tensor:
    """The centers of a grid's cells, from −1 to 1 on every axis: 2·(p + ½)/n − 1, (h·w, 2).

    An image at another resolution covers the same range, so that one encoding serves both. At
    2π times these points rotary with axes=2 and base=100 turns as DINOv3 does (Siméoni et al.
    2025, arXiv:2508.10104).

    >>> centered_grid(2, 4).tolist()[:3]
    [[-0.5, -0.75], [-0.5, -0.25], [-0.5, 0.25]]
    """
    cells = grid(*sizes, device=device).float()
    return 2 * (cells + 0.5) / torch.tensor(sizes, device=device) - 1
