"""The contract: five doors through which an encoding may tell attention where tokens are.

Each door does nothing by default; override the ones yours uses. Positions are data: integer or real,
shape (T), (B,T), or with a last dimension for the axes when `axes` > 1. Queries and keys have their own.
Nothing changes in forward: no counters, no growing tables.

    x ── embed ──► projections ──► q, k ── rotate ──► q·kᵀ/√d ── rescore ──► + bias ──► softmax ── mix ──► out

An encoding of your own is a few lines in any file:

>>> class Near(Encoding):
...     shift_invariant = True
...     def bias(self, q_pos, k_pos):
...         return -difference(q_pos, k_pos).abs() / self.shape.length      # (1|B, 1, Q, K)
>>> Near(Shape(dim=8, heads=2, length=4)).bias(torch.arange(2), torch.arange(3))[0, 0].tolist()
[[0.0, -0.25, -0.5], [-0.25, 0.0, -0.25]]
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from locant.shapes import Shape


class Encoding(nn.Module):
    """A way of telling attention where tokens are."""

    # Claims: what each means stands in locant/claims.py. An option that changes one sets it on the instance.
    shift_invariant: bool = False
    extrapolates: bool = False
    real_positions: bool = False
    causal_only: bool = False
    cacheable_keys: bool = False
    prefers_near: bool = False
    bounded: bool = False
    linear_offset: bool = False
    tells_order: bool = True
    tells_direction: bool = True

    axes: int = 1  # how many numbers one position has
    learned: str = "0"  # how many numbers it learns: a formula in dim, heads, length, head and its own options
    paper: str = ""
    added_width: int = 0  # how many features `embed` appends

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        """x (B,T,D) at positions pos (T) or (B,T): what the input becomes."""
        return x

    def rotate(self, q: Tensor, k: Tensor, q_pos: Tensor, k_pos: Tensor) -> tuple[Tensor, Tensor]:
        """q (B,H,Q,d), k (B,H,K,d): what queries and keys become; their width may change."""
        return q, k

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor | None:
        """What is added to the scaled scores, from positions alone: (1|B, 1|H, Q, K)."""
        return None

    def rescore(self, scores: Tensor, q: Tensor, k: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """What the scores (B,H,Q,K) become when content is needed. The scale is in q: scores = q·kᵀ."""
        return scores

    def mix(self, weights: Tensor, v: Tensor, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        """weights (B,H,Q,K), v (B,H,K,d): the outputs (B,H,Q,d)."""
        return weights @ v

    def tables(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> Any:
        """What `rotate` needs from positions alone, so that a model computes it once for all its layers.

        When this is overridden, `rotate` is given the result as the keyword `tables`.
        """
        return None

    def extra_repr(self) -> str:
        return f"dim={self.shape.dim}, heads={self.shape.heads}, length={self.shape.length}"


def overrides(encoding: Encoding, door: str) -> bool:
    """Whether this encoding's class has its own version of a door."""
    return getattr(type(encoding), door) is not getattr(Encoding, door)


def needs_scores(encoding: Encoding) -> bool:
    """Whether it works on the scores or the weights themselves, so that they must be written down."""
    return overrides(encoding, "rescore") or overrides(encoding, "mix")


def difference(q_pos: Tensor, k_pos: Tensor) -> Tensor:
    """q_pos − k_pos for every pair: (1|B, 1, Q, K), whole numbers or float32.

    >>> difference(torch.tensor([5, 6]), torch.tensor([4]))
    tensor([[[[1],
              [2]]]])
    """
    q_pos, k_pos = (pos if pos.is_floating_point() else pos.long() for pos in (q_pos, k_pos))  # small integers wrap
    delta = q_pos[..., :, None] - k_pos[..., None, :]  # (…, Q, K), in the positions' own precision
    if delta.is_floating_point():
        delta = delta.float()
    return delta[None, None] if delta.dim() == 2 else delta[:, None]


def wide(device: torch.device) -> torch.dtype:
    """The widest float a device has: angles are computed in it and cast last."""
    return torch.float32 if device.type == "mps" else torch.float64


def through(network: nn.Sequential, x: Tensor) -> Tensor:
    """A small network applied in float32 or wider, whatever its own dtype: positions must not be rounded on the way."""
    precise = torch.promote_types(x.dtype, torch.float32)
    x = x.to(precise)
    for layer in network:
        if isinstance(layer, nn.Linear):
            x = nn.functional.linear(x, layer.weight.to(precise), layer.bias.to(precise))
        else:
            x = layer(x)
    return x
