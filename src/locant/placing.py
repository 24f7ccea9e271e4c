"""An encoding put in its place: what depends on positions and masks alone, computed once for a forward pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from locant import positions
from locant.encodings.base import Encoding, overrides
from locant.paths import flexed
from locant.paths.masked import Masked
from locant.paths.masks import blind, blind_by_first, hidden
from locant.paths.rows import Rows
from locant.paths.tiled import available
from locant.paths.tiles import ByDistance, Tiles, checked_bias, has_tiles, make_tiles

LONG = 512 * 512  # a bias by distance of so many numbers a head is shown to the kernel, not written down
LONG_WRITTEN = 1024 * 1024  # any other is written a few rows at a time, from so many on


class Placed(NamedTuple):
    """An encoding at given positions: all that is the same in every layer, computed once for a forward pass."""

    encoding: Encoding
    q_pos: Tensor
    k_pos: Tensor
    tables: Any  # what `rotate` needs
    add: Tensor | None  # to the scores, broadcastable to (B, H, Q, K): the bias, with −∞ where the mask hides
    blind: Tensor | None  # (…, Q, 1) boolean: queries that see nothing; their output is 0
    causal: bool  # a plain causal mask, left to the kernels
    tiles: Tiles | None = None  # the bias by rows, with what `causal` hides; instead of `add`


def place(
    encoding: Encoding,
    q_pos: Tensor,
    k_pos: Tensor,
    *,
    like: Tensor,
    causal: bool = False,
    mask: Tensor | None = None,
    rotated_pos: Tensor | None = None,
    path: str = "auto",
) -> Placed:
    """Compute what depends on positions and masks alone, for queries shaped `like` (B, …).

    rotated_pos  the keys' positions for `rotate`, when only new keys are turned (a cache holds the others)
    path         as in `attend`
    """
    turned = k_pos if rotated_pos is None else rotated_pos
    tables = encoding.tables(q_pos, turned, like.dtype) if overrides(encoding, "tables") else None
    axis = -1 if encoding.axes == 1 else -2
    sizes = (like.shape[0], encoding.shape.heads, q_pos.shape[axis], k_pos.shape[axis])
    mask = None if mask is None else _whole_mask(mask, sizes, like.device)
    numbers = sizes[-2] * sizes[-1]
    by_rows = path in ("tiled", "flex")
    if by_rows or (path == "auto" and numbers >= LONG):
        tiles, unseeing = _tiles(encoding, q_pos, k_pos, like, causal, mask, sizes)
        if tiles is not None and (by_rows or pays(tiles, numbers)):
            return Placed(encoding, q_pos, k_pos, tables, None, unseeing, causal, tiles)
    see, plain_causal = _what_is_seen(causal, mask, sizes[-2:], like.device)
    may_be_blind = see is not None and (mask is not None or sizes[-2] > sizes[-1])
    unseeing = blind(see) if see is not None and may_be_blind else None
    if see is not None and unseeing is not None:
        see = see | unseeing  # a softmax over nothing would be NaN; the output is set to 0 afterwards
    add = checked_bias(encoding, encoding.bias(q_pos, k_pos), sizes)
    if add is not None and plain_causal:
        see, plain_causal = causal_mask(sizes, like.device), False
    if see is not None:
        add = hidden(see, like.dtype) if add is None else add.masked_fill(~see, float("-inf"))
    return Placed(encoding, q_pos, k_pos, tables, add, unseeing, plain_causal)


def pays(tiles: Tiles, numbers: int) -> bool:
    """Whether a bias of so many numbers a head is better taken by rows."""
    return numbers >= (LONG_WRITTEN if tiles.matrices else LONG)


def _tiles(
    encoding: Encoding,
    q_pos: Tensor,
    k_pos: Tensor,
    like: Tensor,
    causal: bool,
    mask: Tensor | None,
    sizes: tuple[int, int, int, int],
) -> tuple[Tiles | None, Tensor | None]:
    """The bias by rows, where a kernel takes it so, and the queries that see nothing."""
    on_cpu = like.device.type == "cpu"
    able = like.dtype in (torch.float32, torch.float64) and available() if on_cpu else flexed.serves(like)
    seen = all(positions.visible(tensor) for tensor in (like, q_pos, k_pos, mask) if tensor is not None)
    some_see_nothing = causal and sizes[-2] > sizes[-1]  # queries that come before every key
    if not (able and seen and has_tiles(encoding)) or some_see_nothing or 0 in sizes:
        return None, None
    dtype = torch.promote_types(like.dtype, torch.float32)
    tiles = make_tiles(encoding, q_pos, k_pos, batch=sizes[0], causal=causal, dtype=dtype)
    if not on_cpu:  # whose kernel knows one line of numbers, and no mask
        return (tiles if mask is None and isinstance(tiles, ByDistance) else None), None
    if tiles is None or mask is None:
        return tiles, None
    unseeing = blind_by_first(mask, sizes[-2], causal=causal)
    return Masked(tiles, mask, unseeing, sizes[1]), unseeing


def written(placed: Placed) -> Placed:
    """The same with its bias written down whole, for the paths that need it so."""
    if placed.tiles is None:
        return placed
    axis = -1 if placed.encoding.axes == 1 else -2
    rows = Rows(0, placed.q_pos.shape[axis], placed.k_pos.shape[axis])
    return placed._replace(add=placed.tiles.at(rows).flip(-2), causal=False, tiles=None)


def place_step(
    encoding: Encoding, pos: Tensor, before: Tensor | None, *, like: Tensor, mask: Tensor | None = None
) -> Placed:
    """New tokens at `pos` over old ones at `before` and themselves, causally."""
    axis = -1 if encoding.axes == 1 else -2
    before = pos.narrow(axis, 0, 0) if before is None else before
    rows = {p.shape[0] if p.dim() + axis > 0 else 0 for p in (pos, before)}
    if len(rows) > 1:  # (T) or (1,T) beside (B,T)
        tail = -axis
        pos, before = (p.expand(like.shape[0], *p.shape[-tail:]) for p in (pos, before))
    rotated = pos if encoding.cacheable_keys else None
    both = torch.cat([before, pos], axis)
    return place(encoding, pos, both, like=like, causal=True, mask=mask, rotated_pos=rotated)


def need_encoding(owner: str, encoding: object) -> None:
    """Refuse what is no encoding."""
    if not isinstance(encoding, Encoding):
        raise ValueError(
            f"{owner} needs an encoding. Got {encoding!r} instead: write locant.make('rotary', dim=…, heads=…)."
        )


def need_device(encoding: Encoding, tokens: Tensor) -> None:
    """Refuse an encoding whose weights are elsewhere than the tokens."""
    weight = next(encoding.parameters(), None)
    if weight is not None and weight.device != tokens.device:
        raise ValueError(
            f"the encoding is on {weight.device}, but the tokens are on {tokens.device}. Move one of them."
        )


def check_tokens(encoding: Encoding, x: Tensor, pos: Tensor) -> None:
    """Refuse an input (B,T,D) or positions that do not fit the encoding."""
    if not isinstance(x, Tensor) or x.dim() != 3 or x.shape[-1] != encoding.shape.dim:
        got = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"the input must be a tensor of shape (B, T, {encoding.shape.dim}). Got {got} instead.")
    need_device(encoding, x)
    positions.check(pos, batch=x.shape[0], length=x.shape[1], axes=encoding.axes, device=x.device, name="pos")


def causal_mask(sizes: tuple[int, ...] | torch.Size, device: torch.device) -> Tensor:
    """(Q,K): key j may be seen by query i when j ≤ i + K − Q."""
    queries, keys = sizes[-2], sizes[-1]
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def _what_is_seen(
    causal: bool, mask: Tensor | None, sizes: tuple[int, int], device: torch.device
) -> tuple[Tensor | None, bool]:
    """The mask of what may be seen, and whether a plain causal mask says it all."""
    queries, keys = sizes
    if not causal or queries == 1:  # a single query is the last one and sees every key
        return mask, False
    if mask is None and queries == keys:
        return None, True
    order = causal_mask(sizes, device)
    return (order if mask is None else order & mask), False


def _whole_mask(mask: Tensor, sizes: tuple[int, int, int, int], device: torch.device) -> Tensor:
    """The mask with four dimensions, (1|B, 1|H, 1|Q, K)."""
    if not isinstance(mask, Tensor):
        raise ValueError(f"the mask must be a boolean tensor, True = may be seen. Got {type(mask).__name__} instead.")
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True = may be seen. Got {mask.dtype}: write mask.bool(), or use a bias.")
    padded = (1,) * (4 - mask.dim()) + tuple(mask.shape)
    if mask.dim() > 4 or any(m not in (1, s) for m, s in zip(padded, sizes, strict=True)) or padded[-1] != sizes[-1]:
        raise ValueError(
            f"the mask has the shape {tuple(mask.shape)}, which does not fit (B,H,Q,K) = {sizes}.\n"
            "  For padding of shape (B,K) write mask[:, None, None, :]."
        )
    if mask.device != device:
        raise ValueError(f"the mask is on {mask.device}, but the tokens are on {device}. Move it there.")
    return mask.reshape(padded)
