"""Keep the position of every cached key beside the key, in the model's own cache.

A cache of transformers knows how many keys it holds, not where they are. Left padding, beams and
cropping move keys about, so a list of positions kept elsewhere would go stale. Here a position is
written as four digits of base 256 behind the numbers of its key: whatever a cache does with keys,
it does with their positions. Digits up to 255 are exact in every dtype, bfloat16 included. The
states of tokens, of encodings that have some, stand between a key and its position. The states
of tokens, of encodings that have some, stand between a key and its position.

>>> keys = torch.zeros(1, 2, 3, 8, dtype=torch.bfloat16)
>>> stored = attach(keys, torch.tensor([-1, 70_001, 5]))
>>> stored.shape, positions_of(stored).tolist()
(torch.Size([1, 2, 3, 12]), [[-1, 70001, 5]])
"""

from __future__ import annotations

import copy
from typing import Any, Protocol

import torch
from torch import Tensor

DIGITS = 4
BASE = 256
OFFSET = BASE**DIGITS // 2  # so that a negative position has digits too


def attach(keys: Tensor, pos: Tensor) -> Tensor:
    """Append the digits of positions pos (T) or (1|B,T) to keys (B,G,T,d): (B,G,T,d + 4)."""
    rest = pos.long() + OFFSET
    digits = []
    for _ in range(DIGITS):
        digits.append(rest % BASE)
        rest = rest // BASE
    written = torch.stack(digits, -1).to(keys.dtype)  # (…, T, 4)
    written = written if written.dim() == 3 else written[None]
    return torch.cat([keys, written[:, None].expand(*keys.shape[:3], DIGITS)], -1)


def positions_of(stored: Tensor) -> Tensor:
    """Read the positions (B,T) of keys that `attach` made."""
    digits = stored[:, 0, :, -DIGITS:].long()
    powers = BASE ** torch.arange(DIGITS, device=stored.device)
    return (digits * powers).sum(-1) - OFFSET


def pack_states(states: Tensor, groups: int) -> Tensor:
    """Share states (B,1|H,T,w) among the key heads: (B,G,T,·).

    >>> states = torch.arange(4.0).view(1, 4, 1, 1)
    >>> packed = pack_states(states, 2)
    >>> packed.flatten().tolist(), unpack_states(packed, 4).flatten().tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0])
    """
    if states.shape[1] == 1:
        return states.expand(-1, groups, -1, -1)
    return states.unflatten(1, (groups, -1)).transpose(2, 3).flatten(3)


def unpack_states(packed: Tensor, heads: int) -> Tensor:
    """Bring packed states (B,G,T,·) back to (B,1|H,T,w)."""
    if heads == 1:
        return packed[:, :1]
    return packed.unflatten(3, (heads // packed.shape[1], -1)).transpose(2, 3).flatten(1, 2)


class CachingLayer(Protocol):
    """What a cache asks the layer whose keys it keeps."""

    q_pos: Tensor

    def rotate_keys(self, keys: Tensor) -> Tensor:
        """Rotate new keys (B,G,T,d), if they can be kept rotated."""

    def new_states(self, past: Tensor | None) -> Tensor | None:
        """Return the states (B,1|H,T,w) of new tokens, given those of the tokens in the cache."""

    def state_heads(self) -> int:
        """Return the second size of the states."""

    def set_keys(self, pos: Tensor, states: Tensor | None) -> None:
        """Take the positions (B,K) and states (B,1|H,K,w) of all keys."""


class PositionedCache:
    """Stand between one attention layer and its cache: keys go in with positions and states."""

    def __init__(self, cache: Any, layer: CachingLayer) -> None:
        self.cache, self.layer = cache, layer

    def update(
        self, keys: Tensor, values: Tensor, layer_idx: int, *more: Any, **named: Any
    ) -> tuple[Tensor, Tensor]:
        """Store new keys and values; return all of them, as the cache itself does."""
        layer = self.layer
        keys = layer.rotate_keys(keys)
        groups, width = keys.shape[1], keys.shape[-1]
        states = layer.new_states(self._states(self._kept(layer_idx), width))
        if states is not None:
            keys = torch.cat([keys, pack_states(states, groups).to(keys.dtype)], -1)
        stored = attach(keys, layer.q_pos)
        stored, values = self.cache.update(stored, values, layer_idx, *more, **named)
        layer.set_keys(positions_of(stored), self._states(stored, width))
        return stored[..., :width], values

    def _states(self, stored: Tensor | None, width: int) -> Tensor | None:
        """Read the states that stand between a key and its position; None where there are none."""
        if stored is None or stored.shape[-1] == width + DIGITS:
            return None
        return unpack_states(stored[..., width:-DIGITS], self.layer.state_heads())

    def _kept(self, layer_idx: int) -> Tensor | None:
        """Return what the cache holds for a layer, (B,G,K,·); None while it is empty."""
        layers = getattr(self.cache, "layers", ())
        if layer_idx >= len(layers) or not layers[layer_idx].get_seq_length():
            return None
        return layers[layer_idx].keys

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cache, name)


def with_positions(cache: Any, layer: CachingLayer) -> Any:
    """Wrap the cache of self-attention, alone or beside the cache of cross-attention."""
    if not hasattr(cache, "self_attention_cache"):
        return PositionedCache(cache, layer)
    both = copy.copy(cache)
    both.self_attention_cache = PositionedCache(cache.self_attention_cache, layer)
    return both
