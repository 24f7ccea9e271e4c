"""Looking positions up in a learned table: only whole numbers, only inside the table, and saying so."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.catalog import claiming
from locant.encodings.base import difference
from locant.positions import visible


def need_whole_numbers(name: str, *positions: Tensor) -> None:
    """Refuse real-valued positions where a table can only be looked up by whole numbers."""
    for pos in positions:
        if pos.is_floating_point():
            raise ValueError(
                f"{name} looks positions up in a table, so they must be whole numbers, but they are {pos.dtype}.\n"
                f"  Round them (pos.round().long()), or use an encoding that takes real positions: "
                f"{', '.join(claiming('real_positions'))}"
            )


def look_up(name: str, table: Tensor, pos: Tensor) -> Tensor:
    """table[pos], (…, T, D), with an error that a person can read when a position is not in the table."""
    need_whole_numbers(name, pos)
    size = table.shape[0]
    if visible(pos) and pos.numel():
        low, high = int(pos.min()), int(pos.max())
        if low < 0 or high >= size:
            outside = low if low < 0 else high
            others = ", ".join(other for other in claiming("extrapolates") if other != "none")
            remedy = "Start the positions at 0" if low < 0 else f"Make it with length > {high}"
            raise ValueError(
                f"{name} has vectors for positions 0..{size - 1}, but position {outside} was asked for.\n"
                f"  {remedy}, or use an encoding that has a value everywhere: {others}"
            )
    return torch.nn.functional.embedding(pos.long(), table)


def bias_by_distance(table: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
    """One number a head from a table (2·far + 1, H), by the distance i − j of each pair, clipped to ±far: (1|B, H, Q, K)."""
    far, heads = table.shape[0] // 2, table.shape[1]
    q_pos = q_pos.long() + far
    if (all_one := _end(q_pos, k_pos, 2 * far)) is not None:  # nothing to look up, and nothing written down
        batch = max(pos.shape[0] if pos.dim() == 2 else 1 for pos in (q_pos, k_pos))
        return table[all_one, :, None, None].expand(batch, heads, q_pos.shape[-1], k_pos.shape[-1])
    return bias_from_rows(table, difference(q_pos, k_pos).clamp(0, 2 * far))


def _end(q_pos: Tensor, k_pos: Tensor, last: int) -> int | None:
    """The end of 0..last that all differences lie at or beyond; None when they do not, or when to know it costs a wait."""
    if q_pos.device.type != "cpu" or not (visible(q_pos) and visible(k_pos)) or not (q_pos.numel() and k_pos.numel()):
        return None
    (low_q, high_q), (low_k, high_k) = ([int(end) for end in pos.aminmax()] for pos in (q_pos, k_pos))
    return 0 if high_q - low_k <= 0 else last if low_q - high_k >= last else None


def bias_from_rows(table: Tensor, row: Tensor) -> Tensor:
    """One number a head from a table (rows, H), for the row of each pair (1|B, 1, Q, K): (1|B, H, Q, K)."""
    batch, _, queries, keys = row.shape
    picked = table.T.gather(1, row.reshape(1, -1).expand(table.shape[1], -1))  # (H, B·Q·K): heads one after the other
    return picked.view(table.shape[1], batch, queries, keys).transpose(0, 1)
