"""A cache of keys and values, in buffers with spare capacity: a step seldom copies.

Nothing that a cache shows is ever changed. Its next tokens go into memory that it does not show,
and only the first continuation of a cache may write there; a second one, as in a beam search, gets
a copy. `Cache.shift` and `Cache.drop` return a new cache too: the same tokens at other positions,
or fewer of them.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from locant.attention.cache_checks import (
    evicted,
    moved_positions,
    refuse_embedded,
    refuse_inherited,
)
from locant.attention.validation import need_encoding
from locant.encodings.base import Encoding
from locant.positions import visible

MIN_SPARE_TOKENS = 64  # spare capacity of a new buffer, at least,
SPARE_SHARE = 4  # and a quarter of the tokens there are


class KVBuffer:
    """Memory for keys and values (B,G,size,d), and how many tokens of it are taken."""

    def __init__(self, k: Tensor, v: Tensor, size: int) -> None:
        self.k, self.v = (part.new_empty(*part.shape[:2], size, part.shape[-1]) for part in (k, v))
        self.taken = 0

    def holds(self, k: Tensor, v: Tensor) -> bool:
        """Say whether these keys and values are views of this buffer's beginning."""
        pairs = ((self.k, k), (self.v, v))
        return all(
            (own.data_ptr(), own.stride(), own.shape[:2])
            == (one.data_ptr(), one.stride(), one.shape[:2])
            for own, one in pairs
        )

    def take(self, first: int, last: int) -> bool:
        """Reserve tokens first..last−1 for writing, if nobody else has; say whether that worked."""
        free = self.taken == first and last <= self.k.shape[-2]
        if free:
            self.taken = last
        return free

    def write(self, first: int, k: Tensor, v: Tensor) -> None:
        """Write keys and values behind those in use; what autograd saved of the others stays
        valid."""
        for to, part in ((self.k, k), (self.v, v)):
            to.data[..., first : first + part.shape[-2], :] = part


_BUFFERS: MutableMapping[Tensor, KVBuffer] = (
    WeakTensorKeyDictionary()
)  # by the keys that a cache shows, while anybody has them


class Cache(NamedTuple):
    """Keys, values (B,G,T,d) and positions of the tokens so far.

    A cache never changes: a step returns a new one.
    """

    k: Tensor
    v: Tensor
    pos: Tensor
    state: Tensor | None = None  # (B,1|H,T,·), if the encoding has a `sense`

    def shift(self, encoding: Encoding, by: float | Tensor) -> Cache:
        """Move the cached tokens by `by` positions, as the encoding of this layer allows.

        by  a number for all tokens, or a tensor that broadcasts to `pos`, with a number for each

        Going on from the new cache equals a fresh pass over the tokens at the new positions. That
        is exact in one layer, rotated keys in half precision being rounded once more. In a model
        of several layers the inputs of later layers were computed at the old positions: the whole
        is exact where no score changes, that is for one number and an encoding that is
        `shift_invariant`. An encoding that acts on the input is refused, since what it added to
        keys and values cannot be taken out of them.

        The context shift of llama.cpp, and of attention sinks: the first tokens stay, the oldest
        of the others go, and the rest close the gap.

        >>> rope = make("rotary", dim=32, heads=4)
        >>> layer = locant.Attention(rope)
        >>> _, cache = layer.step(torch.randn(1, 10, 32), locant.positions.consecutive(10))
        >>> cache = cache.drop(rope, oldest=3, sinks=2)
        >>> cache.pos.tolist()
        [0, 1, 5, 6, 7, 8, 9]
        >>> cache.shift(rope, torch.where(cache.pos < 2, 0, -3)).pos.tolist()
        [0, 1, 2, 3, 4, 5, 6]
        """
        need_encoding("Cache.shift", encoding)
        refuse_embedded(encoding)
        new_pos = moved_positions(self.pos, self.k, encoding, by)
        k, state = self.k, self.state
        if encoding.cacheable_keys:  # else the keys are kept as they were before any rotation
            for hook in ("rotate", "precompute"):
                refuse_inherited(encoding, hook, "move_keys")
            k = encoding.move_keys(k, self.pos, new_pos)
        if state is not None:
            refuse_inherited(encoding, "sense", "move_states")
            state = encoding.move_states(state, self.pos, new_pos)
        return Cache(k, self.v, new_pos, state)

    def drop(
        self,
        encoding: Encoding,
        *,
        oldest: int | None = None,
        sinks: int = 0,
        indices: Sequence[int] | Tensor | None = None,
    ) -> Cache:
        """Evict tokens: the `oldest` ones after the first `sinks`, or those at `indices`.

        The others keep their positions; `shift` closes gaps. Going on from the new cache equals
        a fresh pass over the kept tokens at their positions. That is exact in one layer. In a
        model of several layers keys and values of later layers were computed while the evicted
        tokens could still be seen, and keep what they took from them.

        >>> alibi = make("alibi", dim=32, heads=4)
        >>> _, cache = locant.Attention(alibi).step(torch.randn(1, 5, 32), torch.arange(5))
        >>> cache.drop(alibi, oldest=2).pos.tolist()
        [2, 3, 4]
        >>> cache.drop(alibi, indices=[1, 3]).pos.tolist()
        [0, 2, 4]
        """
        need_encoding("Cache.drop", encoding)
        count = self.k.shape[-2]
        gone = evicted(count, oldest, sinks, indices)
        kept = [index for index in range(count) if index not in gone]
        if not kept:
            raise ValueError(
                f"all {count} tokens would be dropped. Start again without a cache: "
                "layer.step(x, pos)."
            )
        at = torch.tensor(kept, device=self.k.device)
        state = self.state
        if state is not None:
            refuse_inherited(encoding, "sense", "keep_states")
            state = encoding.keep_states(state, at)
        pos = self.pos.index_select(-1 if encoding.axes == 1 else -2, at)
        return Cache(self.k.index_select(-2, at), self.v.index_select(-2, at), pos, state)


def append(cache: Cache, k: Tensor, v: Tensor, pos: Tensor, state: Tensor | None = None) -> Cache:
    """Append new keys and values to a cache; pos and state are those of all tokens."""
    if not _may_write(cache.k, cache.v, k, v):
        return Cache(torch.cat([cache.k, k], -2), torch.cat([cache.v, v], -2), pos, state)
    old, buffer = cache.k.shape[-2], _BUFFERS.get(cache.k)
    total = old + k.shape[-2]
    if buffer is None or not buffer.holds(cache.k, cache.v) or not buffer.take(old, total):
        buffer = KVBuffer(cache.k, cache.v, total + max(MIN_SPARE_TOKENS, total // SPARE_SHARE))
        buffer.take(0, total)
        buffer.write(0, cache.k, cache.v)
    buffer.write(old, k, v)
    new = Cache(buffer.k[..., :total, :], buffer.v[..., :total, :], pos, state)
    _BUFFERS[new.k] = buffer
    return new


def _may_write(*tensors: Tensor) -> bool:
    """Say whether tokens can be written in place: no tracing, no gradient, one dtype and device."""
    if not all(map(visible, tensors)):
        return False
    if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
        return False
    if any(one.is_inference() for one in tensors) and not torch.is_inference_mode_enabled():
        return False
    return len({(one.dtype, one.device) for one in tensors}) == 1
