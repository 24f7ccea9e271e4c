"""What an encoding makes of positions while everything else is held still."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from locant.attention import explicit
from locant.encodings.base import Encoding, overrides

Array = NDArray[np.float64]
Numbers = dict[str, Any]
SPAN = 128  # positions that are looked at, at least, where an encoding has a value everywhere


class NotOffered(Exception):
    """A picture that says nothing about an encoding, and why."""


def still(encoding: Encoding) -> Encoding:
    """A copy in float64 that draws nothing by chance; the encoding itself is not touched."""
    return copy.deepcopy(encoding).double().eval().requires_grad_(False)


def places(encoding: Encoding, index: Tensor) -> Tensor:
    """Positions (T), or (T, axes) along the first axis with the others at 0."""
    if encoding.axes == 1:
        return index
    return torch.stack([index, *[torch.zeros_like(index)] * (encoding.axes - 1)], -1)


def index(*positions: float) -> Tensor:
    """Positions as whole numbers where they all are, else as real ones: (T)."""
    whole = all(float(one).is_integer() for one in positions)
    return torch.tensor(
        [int(one) for one in positions] if whole else positions,
        dtype=None if whole else torch.float64,
    )


def span(encoding: Encoding, least: int = SPAN) -> Tensor:
    """Positions 0, 1, 2, … that may be looked at: up to the length, or to `least` where there is a value everywhere."""
    length = encoding.shape.length
    return torch.arange(max(least, length) if encoding.extrapolates else length)


def added(encoding: Encoding, index: Tensor) -> Tensor:
    """What `embed` gives a token of zeros, (T, D), or appends to it; of ones, where zeros stay zeros."""
    shape, pos = encoding.shape, places(encoding, index)
    nothing = torch.zeros(1, len(index), shape.dim, dtype=torch.float64)
    out = encoding.embed(nothing, pos)[0]
    if encoding.added_width:
        return out[:, shape.dim :]
    return out if bool(out.any()) else encoding.embed(nothing + 1, pos)[0]


def turned(encoding: Encoding, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """What the vectors x (T, d) become as queries and as keys of the first head: each (T, ·)."""
    every = x[None, None].expand(1, encoding.shape.heads, -1, -1)
    pos = places(encoding, index)
    q, k = encoding.rotate(every, every, pos, pos)
    return q[0, 0], k[0, 0]


def vectors(encoding: Encoding, index: Tensor) -> Tensor:
    """One vector a position: what is added to the input, or else what a key of ones is turned into: (T, ·)."""
    if overrides(encoding, "embed"):
        return added(encoding, index)
    if overrides(encoding, "rotate"):
        return turned(
            encoding, torch.ones(len(index), encoding.shape.head, dtype=torch.float64), index
        )[1]
    raise NotOffered("it adds no vectors to the input and turns none")


def scores(encoding: Encoding, q: Tensor, k: Tensor, q_index: Tensor, k_index: Tensor) -> Tensor:
    """Scores (B, H, Q, K) of tokens q (B, Q, D) over k (B, K, D), through every hook; projections are the identity."""
    heads, head, dim = encoding.shape.heads, encoding.shape.head, encoding.shape.dim
    q_pos, k_pos = places(encoding, q_index), places(encoding, k_index)
    q, k = encoding.embed(q, q_pos), encoding.embed(k, k_pos)  # (B, T, D or more)
    beside = (
        q[..., dim:] @ k[..., dim:].mT / (heads * head**0.5)
    )  # what stands beside the input, shared by the heads
    q, k = (
        x[..., :dim].unflatten(-1, (heads, head)).transpose(1, 2) for x in (q, k)
    )  # (B, H, T, d)
    return explicit(q, k, k, encoding=encoding, q_pos=q_pos, k_pos=k_pos).scores + beside[:, None]


def same_tokens(encoding: Encoding, count: int) -> Tensor:
    """One token, `count` times (1, T, D): zeros where vectors are added, so that they alone are seen, else ones."""
    value = 0.0 if overrides(encoding, "embed") else 1.0
    return torch.full((1, count, encoding.shape.dim), value, dtype=torch.float64)
