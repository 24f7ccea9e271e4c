"""Make positions: plain tensors, (T) for every row of a batch or (B,T) with a row for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from locant._internal.checks import whole_number


class Packed(NamedTuple):
    """Several sequences in one row: positions (T), and the mask (T,T) that keeps them apart."""

    positions: Tensor
    mask: Tensor


def consecutive(length: int, *, start: int = 0, device: torch.device | str | None = None) -> Tensor:
    """start, start + 1, …: (T).

    >>> consecutive(4).tolist()
    [0, 1, 2, 3]
    """
    whole_number("consecutive", "length", length, least=0)
    return torch.arange(start, start + length, device=device)


def from_mask(mask: Tensor) -> Tensor:
    """Count the real tokens of each padded row from 0, wherever the padding is: (B,T).

    mask is boolean, True where there is a token. Padding gets position 0.

    >>> from_mask(torch.tensor([[False, False, True, True], [True, True, True, False]])).tolist()
    [[0, 0, 0, 1], [0, 1, 2, 0]]
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(
            f"a mask is a boolean tensor, True where there is a token. Got {kind}: write "
            "mask.bool()."
        )
    if mask.dim() not in (1, 2):
        raise ValueError(f"a mask has the shape (T) or (B,T). Got {tuple(mask.shape)} instead.")
    return (mask.long().cumsum(-1) - 1).clamp_min(0) * mask


def packed(lengths: Sequence[int] | Tensor, *, device: torch.device | str | None = None) -> Packed:
    """Pack several sequences into one row: positions restart, and no sequence sees another's
    tokens.

    >>> packed([2, 3]).positions.tolist()
    [0, 1, 0, 1, 2]
    >>> packed([1, 2]).mask.int().tolist()
    [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    """
    if isinstance(lengths, Tensor):
        lengths = lengths.tolist()
    if not isinstance(lengths, Iterable):
        raise ValueError(
            f"packed needs a list of lengths, as in packed([4, 7]). Got {lengths!r} instead."
        )
    counts = [whole_number("packed", "a length", length) for length in lengths]
    if not counts:
        raise ValueError("packed needs at least one length.")
    size = torch.tensor(counts, device=device)
    owner = torch.arange(len(counts), device=device).repeat_interleave(size)  # (T): which sequence
    start = (size.cumsum(0) - size).repeat_interleave(size)
    return Packed(torch.arange(len(owner), device=device) - start, owner[:, None] == owner[None, :])


def grid(*sizes: int, device: torch.device | str | None = None) -> Tensor:
    """The cells of a grid, row by row: (h·w, 2) for a plane, (t·h·w, 3) for a volume.

    >>> grid(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if len(sizes) < 2:
        raise ValueError(f"a grid has two sizes or more, as in grid(8, 8). Got {sizes!r} instead.")
    axes = [torch.arange(whole_number("grid", "a size", size), device=device) for size in sizes]
    return torch.cartesian_prod(*axes)
