"""Looking positions up in a learned table: only whole numbers, only inside the table, and saying so."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.catalog import claiming
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


def bias_from_rows(table: Tensor, row: Tensor) -> Tensor:
    """One number a head from a table (rows, H), for the row of each pair (1|B, 1, Q, K): (1|B, H, Q, K)."""
    batch, _, queries, keys = row.shape
    picked = table.T.gather(1, row.reshape(1, -1).expand(table.shape[1], -1))  # (H, B·Q·K): heads one after the other
    return picked.view(table.shape[1], batch, queries, keys).transpose(0, 1)
