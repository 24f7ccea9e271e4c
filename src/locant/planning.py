"""Which path attention takes with an encoding, and why, without computing it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant import positions
from locant.attention import FEW, Choice, choose, rotate
from locant.encodings.base import Encoding
from locant.errors import share, whole_number
from locant.placing import need_encoding, pays, place


def plan(
    encoding: Encoding,
    length: int,
    *,
    causal: bool = False,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    pos: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    device: str | torch.device = "cpu",
) -> Choice:
    """The path of `attend` for so many tokens, and why.

    pos   positions (T), when they are not 0, 1, 2, …
    mask  boolean as in `attend`; only whether there is one counts

    >>> plan(make("rotary", dim=64, heads=4), 512)
    Choice(path='fused', why='plain attention')
    >>> plan(make("t5", dim=64, heads=4), 8192, causal=True)
    Choice(path='tiled', why='its bias is shown to the kernel by distance, so memory grows with length')
    """
    need_encoding("plan", encoding)
    few = min(FEW + 1, whole_number("plan", "length", length))
    q, k = (
        torch.zeros(1, encoding.shape.heads, few, encoding.shape.head, dtype=dtype, device=device) for _ in range(2)
    )
    pos = positions.consecutive(few, device=device) if pos is None else _like(pos, few)
    if encoding.axes > 1:
        pos = pos[:, None].expand(-1, encoding.axes)
    see = None if mask is None else torch.ones(few, few, dtype=torch.bool, device=device)
    placed = place(encoding, pos, pos, like=q, causal=causal, mask=see, path="tiled")
    if placed.tiles is not None and not pays(placed.tiles, length * length):
        placed = place(encoding, pos, pos, like=q, causal=causal, mask=see)
    drop = nn.Dropout(share("plan", "dropout", dropout)) if dropout else None
    return choose(placed, *rotate(placed, q, k), drop)


def _like(pos: Tensor, few: int) -> Tensor:
    """A few positions, evenly spaced when all are, and uneven when they are not."""
    even = positions.evenly_spaced(pos, pos) is not None
    return pos[:few] if even else torch.arange(few, dtype=pos.dtype, device=pos.device) ** 2
