"""A cache of keys and values, in buffers with spare capacity: a step seldom copies.

Nothing that a cache shows is ever changed. Its next tokens go into memory that it does not show,
and only the first continuation of a cache may write there; a second one, as in a beam search, gets
a copy.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

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
