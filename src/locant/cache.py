"""Keys and values of the tokens so far, with room behind them: a step writes the new ones and seldom copies the old.

Nothing that a cache shows is ever changed. Its next tokens go into memory that it does not show, and only the first who goes on
from it may write there; who goes on from it again, as a beam search does, gets a copy.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from locant.positions import visible

LEAST = 64  # tokens for which a new room has place at least,
SHARE = 4  # and for a quarter as many as there are


class Room:
    """Memory for keys and values (B,G,size,d), and how many tokens of it are taken."""

    def __init__(self, k: Tensor, v: Tensor, size: int) -> None:
        self.k, self.v = (part.new_empty(*part.shape[:2], size, part.shape[-1]) for part in (k, v))
        self.taken = 0

    def holds(self, k: Tensor, v: Tensor) -> bool:
        """Whether these are its own first keys and values, and not others that somebody has put in their place."""
        pairs = ((self.k, k), (self.v, v))
        return all(
            (own.data_ptr(), own.stride(), own.shape[:2]) == (one.data_ptr(), one.stride(), one.shape[:2])
            for own, one in pairs
        )

    def take(self, first: int, last: int) -> bool:
        """Whether tokens from first up to last may be written; nobody else may from now on."""
        free = self.taken == first and last <= self.k.shape[-2]
        if free:
            self.taken = last
        return free

    def write(self, first: int, k: Tensor, v: Tensor) -> None:
        for to, part in ((self.k, k), (self.v, v)):
            to[..., first : first + part.shape[-2], :] = part


_ROOMS: MutableMapping[Tensor, Room] = (
    WeakTensorKeyDictionary()
)  # by the keys that a cache shows, while anybody has them


class Cache(NamedTuple):
    """Keys, values (B,G,T,d) and positions of the tokens so far. Never changed: a step makes a new one."""

    k: Tensor
    v: Tensor
    pos: Tensor


def append(cache: Cache, k: Tensor, v: Tensor, pos: Tensor) -> Cache:
    """The cache with new keys and values behind the old ones; pos are the positions of all."""
    if not _may_write(cache.k, cache.v, k, v):
        return Cache(torch.cat([cache.k, k], -2), torch.cat([cache.v, v], -2), pos)
    old, room = cache.k.shape[-2], _ROOMS.get(cache.k)
    total = old + k.shape[-2]
    if room is None or not room.holds(cache.k, cache.v) or not room.take(old, total):
        room = Room(cache.k, cache.v, total + max(LEAST, total // SHARE))
        room.take(0, total)
        room.write(0, cache.k, cache.v)
    room.write(old, k, v)
    new = Cache(room.k[..., :total, :], room.v[..., :total, :], pos)
    _ROOMS[new.k] = room
    return new


def _may_write(*tensors: Tensor) -> bool:
    """Whether new tokens can be written behind the old: nothing traces them, no gradient wants them, all are of one kind."""
    if not all(map(visible, tensors)):
        return False
    if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
        return False
    if any(one.is_inference() for one in tensors) and not torch.is_inference_mode_enabled():
        return False
    return len({(one.dtype, one.device) for one in tensors}) == 1
