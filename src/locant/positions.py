"""Where tokens are. Positions are data: plain tensors, made here or anywhere else.

(T) serves every row of a batch; (B,T) gives each row its own; a last dimension holds the axes of a grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from locant.errors import whole_number
from locant.samplers import cape, randomized, skips
from locant.timestamps import timestamps

__all__ = [
    "Packed",
    "cape",
    "check",
    "consecutive",
    "from_mask",
    "grid",
    "in_transform",
    "packed",
    "randomized",
    "skips",
    "timestamps",
    "visible",
]


class Packed(NamedTuple):
    """Several sequences in one row: their positions (T), and the mask (T,T) that keeps them apart."""

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
    """Positions of padded rows: each row counts its real tokens from 0, wherever the padding is: (B,T).

    mask is boolean, True where there is a token. Padding gets position 0.

    >>> from_mask(torch.tensor([[False, False, True, True], [True, True, True, False]])).tolist()
    [[0, 0, 0, 1], [0, 1, 2, 0]]
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(f"a mask is a boolean tensor, True where there is a token. Got {kind}: write mask.bool().")
    if mask.dim() not in (1, 2):
        raise ValueError(f"a mask has the shape (T) or (B,T). Got {tuple(mask.shape)} instead.")
    return (mask.long().cumsum(-1) - 1).clamp_min(0) * mask


def packed(lengths: Sequence[int] | Tensor, *, device: torch.device | str | None = None) -> Packed:
    """Several sequences one after the other: positions start again, and no one sees another's tokens.

    >>> packed([2, 3]).positions.tolist()
    [0, 1, 0, 1, 2]
    >>> packed([1, 2]).mask.int().tolist()
    [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    """
    if isinstance(lengths, Tensor):
        lengths = lengths.tolist()
    if not isinstance(lengths, Iterable):
        raise ValueError(f"packed needs a list of lengths, as in packed([4, 7]). Got {lengths!r} instead.")
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


class Spacing(NamedTuple):
    """Evenly spaced positions: the step, and how far the first query is ahead of the first key, both 0-dimensional."""

    step: Tensor
    ahead: Tensor


def evenly_spaced(q_pos: Tensor, k_pos: Tensor) -> Spacing | None:
    """The spacing of positions (Q) or (B,Q) and (K) or (B,K) when every row has the same; None when not.

    >>> evenly_spaced(torch.tensor([7, 9]), torch.tensor([1, 3, 5, 7]))
    Spacing(step=tensor(2), ahead=tensor(6))
    >>> evenly_spaced(torch.tensor([7, 9]), torch.tensor([1, 3, 5, 8])) is None
    True
    """
    if q_pos.dtype != k_pos.dtype or k_pos.shape[-1] < 2:
        return None
    q_pos, k_pos = (pos if pos.is_floating_point() else pos.long() for pos in (q_pos, k_pos))
    step = k_pos.flatten()[1] - k_pos.flatten()[0]
    ahead = q_pos[..., 0] - k_pos[..., 0]
    even = all(bool((pos == pos[..., :1] + step * _counted(pos)).all()) for pos in (q_pos, k_pos))
    return Spacing(step, ahead.flatten()[0]) if even and bool((ahead == ahead.flatten()[0]).all()) else None


def _counted(pos: Tensor) -> Tensor:
    """0, 1, 2, … for each token: (T)."""
    return torch.arange(pos.shape[-1], device=pos.device)


def visible(values: Tensor) -> bool:
    """Whether a tensor's values can be looked at now: not while a graph is traced, on meta, or under vmap."""
    return not (torch.compiler.is_compiling() or values.is_meta or in_transform(values))


def in_transform(values: Tensor) -> bool:
    """Whether a tensor is inside one of torch.func's transforms, such as vmap or grad."""
    if torch.compiler.is_compiling():
        return False
    if getattr(torch._C, "_are_functorch_transforms_active", bool)():  # then what is not wrapped is not as usual either
        return True
    signs = ("is_functorch_wrapped_tensor", "is_legacy_batchedtensor")  # the second: many gradients at once
    return any(bool(getattr(torch._C._functorch, sign, lambda _: False)(values)) for sign in signs)


def check(pos: Tensor, *, batch: int, length: int, axes: int, device: torch.device, name: str) -> None:
    """Refuse positions that do not fit their tokens, before torch broadcasts them without a word."""
    if not isinstance(pos, Tensor):
        raise ValueError(f"{name} must be a tensor of positions. Got {type(pos).__name__}: see locant.positions.")
    shape = tuple(pos.shape)
    tail = (length,) if axes == 1 else (length, axes)
    if shape not in (tail, (1, *tail), (batch, *tail)):
        allowed = " or ".join(str(one) for one in dict.fromkeys((tail, (batch, *tail))))
        raise ValueError(
            f"{name} has the shape {shape}, but there are {length} tokens in {batch} rows"
            f"{f' and {axes} axes' if axes > 1 else ''}.\n  Allowed: {allowed}"
        )
    if pos.is_complex() or pos.dtype == torch.bool:
        raise ValueError(f"{name} must be whole or real numbers. Got {pos.dtype} instead.")
    if pos.device != device:
        raise ValueError(
            f"{name} is on {pos.device}, but the tokens are on {device}. Move it: {name}.to({str(device)!r})."
        )
    if pos.is_floating_point() and visible(pos) and not bool(torch.isfinite(pos).all()):
        raise ValueError(
            f"{name} has positions that are not finite numbers (NaN or infinite). Drop or fill them first."
        )
