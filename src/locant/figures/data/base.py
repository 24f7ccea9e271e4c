"""What an encoding makes of positions while everything else is held fixed: what all pictures
measure with."""

from __future__ import annotations

import copy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from locant.attention import explicit
from locant.encodings.base import Encoding, overrides, senses
from locant.encodings.hooks import States, compute_bias
from locant.figures.data import Numbers

__all__ = ["Array", "NotApplicable", "Numbers"]

Array = NDArray[np.float64]
MIN_OBSERVED = 128  # positions measured at least, where an encoding has a value everywhere


class NotApplicable(Exception):
    """A picture that says nothing about an encoding, and why."""


def frozen(encoding: Encoding) -> Encoding:
    """Copy an encoding in float64, in evaluation mode; the encoding itself is not touched."""
    return copy.deepcopy(encoding).double().eval().requires_grad_(False)


def on_axes(encoding: Encoding, positions: Tensor) -> Tensor:
    """Return positions (T) as they are, or as (T, axes) along the first axis with the others at
    0."""
    if encoding.axes == 1:
        return positions
    zeros = torch.zeros_like(positions)
    return torch.stack([positions, *[zeros] * (encoding.axes - 1)], -1)


def as_positions(*positions: float) -> Tensor:
    """Return positions (T): integers where they all are whole numbers, else real numbers."""
    if all(float(one).is_integer() for one in positions):
        return torch.tensor([int(one) for one in positions])
    return torch.tensor(positions, dtype=torch.float64)


def observed_positions(encoding: Encoding, at_least: int = MIN_OBSERVED) -> Tensor:
    """Return positions 0, 1, 2, …: up to the length, or to `at_least` where there is a value
    everywhere."""
    length = encoding.shape.length
    return torch.arange(max(at_least, length) if encoding.extrapolates else length)


def added_vectors(encoding: Encoding, positions: Tensor) -> Tensor:
    """Return what `embed` gives a token of zeros, (T, D), or appends to it; of ones, where zeros
    stay zeros."""
    dim = encoding.shape.dim
    pos = on_axes(encoding, positions)
    zeros = torch.zeros(1, len(positions), dim, dtype=torch.float64)
    out = encoding.embed(zeros, pos)[0]
    if encoding.added_width:
        return out[:, dim:]
    return out if bool(out.any()) else encoding.embed(zeros + 1, pos)[0]


def rotated(encoding: Encoding, x: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Return what the vectors x (T, d) become as queries and as keys of the first head: each (T,
    ·)."""
    every_head = x[None, None].expand(1, encoding.shape.heads, -1, -1)
    pos = on_axes(encoding, positions)
    q, k = encoding.rotate(every_head, every_head, pos, pos)
    return q[0, 0], k[0, 0]


def rotated_ones(encoding: Encoding, positions: Tensor) -> Tensor:
    """Return what a key of ones becomes at each position, in the first head: (T, ·)."""
    ones = torch.ones(len(positions), encoding.shape.head, dtype=torch.float64)
    return rotated(encoding, ones, positions)[1]


def position_vectors(encoding: Encoding, positions: Tensor) -> Tensor:
    """Return one vector per position: what is added to the input, or else a rotated key of ones:
    (T, ·)."""
    if overrides(encoding, "embed"):
        return added_vectors(encoding, positions)
    if overrides(encoding, "rotate"):
        return rotated_ones(encoding, positions)
    raise NotApplicable("it adds no vectors to the input and rotates no keys")


def all_vectors(encoding: Encoding) -> Array:
    """Return the vectors of positions 0, 1, … up to the length: (T, W)."""
    return position_vectors(encoding, torch.arange(encoding.shape.length)).numpy()


def vector_meaning(encoding: Encoding) -> str:
    """Say what the vectors of `position_vectors` are."""
    if overrides(encoding, "embed"):
        return "what is added to the input"
    return "a key of ones, rotated by its position"


def attention_scores(
    encoding: Encoding, q: Tensor, k: Tensor, q_index: Tensor, k_index: Tensor
) -> Tensor:
    """Score tokens q (B, Q, D) over k (B, K, D) through every hook: (B, H, Q, K).

    The projections are the identity.
    """
    heads, head_dim, dim = encoding.shape.heads, encoding.shape.head, encoding.shape.dim
    q_pos = on_axes(encoding, q_index)
    k_pos = on_axes(encoding, k_index)
    states = token_states(encoding, q, k, q_index, k_index)
    q_state, k_state = (None, None) if states is None else states
    q = encoding.embed(q, q_pos)  # (B, Q, D or more)
    k = encoding.embed(k, k_pos)
    # what was appended to the input is shared by the heads
    appended = q[..., dim:] @ k[..., dim:].mT / (heads * head_dim**0.5)
    q = q[..., :dim].unflatten(-1, (heads, head_dim)).transpose(1, 2)  # (B, H, Q, d)
    k = k[..., :dim].unflatten(-1, (heads, head_dim)).transpose(1, 2)
    found = explicit(
        q,
        k,
        k,
        encoding=encoding,
        q_pos=q_pos,
        k_pos=k_pos,
        q_state=q_state,
        k_state=k_state,
    )
    return found.scores + appended[:, None]


def token_states(
    encoding: Encoding, q: Tensor, k: Tensor, q_index: Tensor, k_index: Tensor
) -> States | None:
    """Return the states of tokens q (B, Q, D) and k (B, K, D); None for an encoding without any.

    The tokens follow one another by position. A query stands in place of the key at its position,
    after all keys before it.
    """
    if not senses(encoding):
        return None
    order = k_index.argsort()
    k_state = encoding.sense(k[:, order], on_axes(encoding, k_index[order]))
    index = torch.searchsorted(k_index[order], q_index)  # of each query among the keys
    tokens = k[:, order].clone()
    tokens[:, index] = q
    q_state = encoding.sense(tokens, on_axes(encoding, k_index[order]))
    assert q_state is not None
    assert k_state is not None
    return States(q_state[..., index, :], k_state[..., order.argsort(), :])


def added_to_scores(encoding: Encoding, q_index: Tensor, k_index: Tensor) -> Tensor | None:
    """Return what is added to the scores of equal tokens, (H, Q, K); None when nothing is."""
    heads, queries, keys = encoding.shape.heads, len(q_index), len(k_index)
    q, k = equal_tokens(encoding, queries), equal_tokens(encoding, keys)
    states = token_states(encoding, q, k, q_index, k_index)
    q_pos, k_pos = on_axes(encoding, q_index), on_axes(encoding, k_index)
    found = compute_bias(encoding, q_pos, k_pos, (1, heads, queries, keys), states)
    return None if found is None else found[0].double().expand(heads, -1, -1)


def equal_tokens(encoding: Encoding, count: int) -> Tensor:
    """Return one token, `count` times (1, T, D): zeros where vectors are added, so that they alone
    are seen; else ones."""
    value = 0.0 if overrides(encoding, "embed") else 1.0
    return torch.full((1, count, encoding.shape.dim), value, dtype=torch.float64)
