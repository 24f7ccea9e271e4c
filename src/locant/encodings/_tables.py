"""Looking positions up in a learned table: only whole numbers, only inside the table, and saying
so."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from locant.encodings.base import difference, need_tensors
from locant.encodings.registry import claiming
from locant.positions import visible

MANY = 1 << 15  # pairs, for which it is worth to know that one number serves them all


def need_whole_numbers(name: str, *positions: Tensor) -> None:
    """Refuse real-valued positions where a table can only be looked up by whole numbers."""
    need_tensors(*positions)
    for pos in positions:
        if pos.is_floating_point():
            raise ValueError(
                f"{name} looks positions up in a table, so they must be whole numbers, but they "
                f"are {pos.dtype}.\n"
                f"  Round them (pos.round().long()), or use an encoding that takes real positions: "
                f"{', '.join(claiming('real_positions'))}"
            )


def look_up(name: str, table: Tensor, pos: Tensor) -> Tensor:
    """table[pos], (…, T, D), with an error that a person can read when a position is not in the
    table."""
    need_whole_numbers(name, pos)
    pos = pos.long()
    need_inside(name, pos, table.shape[0])
    return torch.nn.functional.embedding(pos, table)


def need_inside(name: str, pos: Tensor, size: int) -> None:
    """Refuse positions outside 0..size−1, where they can be looked at."""
    if not visible(pos) or not pos.numel():
        return
    pos = pos if pos.is_floating_point() else pos.long()  # torch knows no largest of small ones
    low, high = pos.min().item(), pos.max().item()
    if low < 0 or high > size - 1:
        outside = low if low < 0 else high
        others = ", ".join(other for other in claiming("extrapolates") if other != "none")
        remedy = "Start the positions at 0" if low < 0 else f"Make it with length > {high}"
        raise ValueError(
            f"{name} has vectors for positions 0..{size - 1}, but position {outside} was "
            "asked for.\n"
            f"  {remedy}, or use an encoding that has a value everywhere: {others}"
        )


def bias_by_distance(table: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
    """One number a head from a table (2·far + 1, H), by the distance m − n of query and key,
    clipped to ±far: (1|B, H, Q, K)."""
    need_tensors(q_pos, k_pos)
    far, queries, keys = table.shape[0] // 2, q_pos.shape[-1], k_pos.shape[-1]
    if (end := _end(q_pos, k_pos, far)) is not None:  # nothing to look up
        batch = max(pos.shape[0] if pos.dim() == 2 else 1 for pos in (q_pos, k_pos))
        return table[end, :, None, None].expand(batch, -1, queries, keys)  # nor to write down
    return bias_from_rows(table, difference(q_pos.long() + far, k_pos).clamp(0, 2 * far))


def _end(q_pos: Tensor, k_pos: Tensor, far: int) -> int | None:
    """The end of a table, row 0 or −1, that all pairs are clipped to.

    None where they are not, for few pairs, and where looking at positions would cost a wait or
    cannot be.
    """
    if q_pos.device.type != "cpu" or not (visible(q_pos) and visible(k_pos)):
        return None
    if q_pos.shape[-1] * k_pos.shape[-1] < MANY:
        return None
    (low_q, high_q), (low_k, high_k) = (
        [int(end) for end in pos.long().aminmax()] for pos in (q_pos, k_pos)
    )
    return 0 if high_q - low_k <= -far else -1 if low_q - high_k >= far else None


def bias_from_rows(table: Tensor, row: Tensor) -> Tensor:
    """One number a head from a table (rows, H), for the row of each pair (1|B, 1, Q, K): (1|B, H,
    Q, K)."""
    batch, _, queries, keys = row.shape
    picked = table.T.gather(
        1, row.reshape(1, -1).expand(table.shape[1], -1)
    )  # (H, B·Q·K): heads one after the other
    return picked.view(table.shape[1], batch, queries, keys).transpose(0, 1)


def offsets(q_pos: Tensor, k_pos: Tensor, axes: int, dtype: torch.dtype) -> Tensor:
    """Return q_pos − k_pos on every axis: (1|B, 1, Q, K, axes), as `difference` gives it."""
    if axes == 1:
        return difference(q_pos, k_pos, dtype)[..., None]
    need_tensors(q_pos, k_pos)
    each = [difference(q_pos[..., axis], k_pos[..., axis], dtype) for axis in range(axes)]
    return torch.stack(each, -1)


def bias_of_offsets(
    function: Callable[[Tensor], Tensor],
    q_pos: Tensor,
    k_pos: Tensor,
    dtype: torch.dtype,
    axes: int = 1,
) -> Tensor:
    """Return a function of offsets, (…, axes) → (…, H), at every pair: (1|B, H, Q, K).

    Between whole positions few different offsets occur: the function is evaluated once for each.
    """
    delta = offsets(q_pos, k_pos, axes, dtype)  # (1|B, 1, Q, K, axes)
    grid = _every_offset(delta)
    if grid is None:
        return function(delta.to(dtype))[:, 0].movedim(-1, 1)
    lowest, sizes = grid
    steps = [torch.arange(size) for size in sizes]
    points = torch.cartesian_prod(*steps).view(-1, axes) + torch.tensor(lowest)
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(axes)]
    row = ((delta - torch.tensor(lowest)) * torch.tensor(strides)).sum(-1)  # (1|B, 1, Q, K)
    return bias_from_rows(function(points.to(dtype)), row)


def _every_offset(delta: Tensor) -> tuple[list[int], list[int]] | None:
    """Return the lowest offset of each axis and how many there are up to the highest.

    None where that is no fewer points than pairs, where offsets are real-valued, and where looking
    at them would cost a wait or cannot be.
    """
    if delta.is_floating_point() or delta.device.type != "cpu" or not visible(delta):
        return None
    if not delta.numel():
        return None
    flat = delta.flatten(0, -2)
    lowest = flat.amin(0)
    sizes = [int(size) for size in flat.amax(0) - lowest + 1]
    if 2 * math.prod(sizes) > len(flat):
        return None
    return [int(one) for one in lowest], sizes
