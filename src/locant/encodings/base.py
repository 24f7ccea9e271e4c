"""The contract: five hooks through which an encoding may tell attention where tokens are.

Each hook does nothing by default; override the ones yours uses. Positions are data: integer or real,
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

import inspect
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import type_before_parametrizations

from locant.encodings.registry import NO_ENCODINGS
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
    learned: str = (
        "0"  # how many numbers it learns: a formula in dim, heads, length, head and its own options
    )
    paper: str = ""
    added_width: int = 0  # how many features `embed` appends

    _asked: tuple[str, dict[str, Any]] | None = (
        None  # the name and the options that `make` was given
    )

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x: Tensor, pos: Tensor | None = None) -> Tensor:
        """Give `embed(x, pos)`, so that hooks and wrappers of modules reach it."""
        if pos is None:
            raise ValueError(
                "positions are passed, never guessed: encoding(x, pos), see locant.positions"
            )
        return self.embed(x, pos)

    def precompute(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> Any:
        """Compute what `rotate` needs from positions alone, once for all layers of a forward pass.

        When it is not None, `rotate` is given it as `precomputed`.
        """
        return None

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        """x (B,T,D) at positions pos (T) or (B,T): what the input becomes."""
        return x

    def rotate(
        self, q: Tensor, k: Tensor, q_pos: Tensor, k_pos: Tensor, precomputed: Any = None
    ) -> tuple[Tensor, Tensor]:
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

    def config(self) -> dict[str, Any]:
        """Give the plain values that build it again, without what it has learned: `make(**encoding.config())`.

        >>> make("t5", dim=8, heads=2, buckets=16).config()
        {'name': 't5', 'dim': 8, 'heads': 2, 'length': 512, 'buckets': 16, 'max_distance': 128, 'sides': 'both', 'std': 0.02}
        """
        name = self._asked[0] if self._asked is not None else self._own_name()
        if not name:
            kind = type_before_parametrizations(self).__name__
            raise ValueError(
                f"{kind} was not made by name, so no name leads back to its class.\n"
                f"  Make it by the file that it stands in: locant.make('path.py:{kind}', dim=…)"
            )
        options = {
            option: _plain(f"{name}: {option}", value) for option, value in self._options().items()
        }
        return {
            "name": name,
            "dim": self.shape.dim,
            "heads": self.shape.heads,
            "length": self.shape.length,
            **options,
        }

    def _own_name(self) -> str:
        """The name of a class that comes with locant; nothing for any other."""
        package, _, name = type_before_parametrizations(self).__module__.rpartition(".")
        return name if package == __package__ and name not in NO_ENCODINGS else ""

    def _options(self) -> dict[str, Any]:
        """The constructor's options: what `make` was given for a user's class; else the attributes of the same names."""
        if self._asked is not None and not self._own_name():
            return self._asked[1]
        parameters = inspect.signature(type(self).__init__).parameters.values()
        names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and hasattr(self, p.name)]
        kept = {name: getattr(self, name) for name in names}
        return {
            name: value
            for name, value in kept.items()
            if not (isinstance(value, Tensor) or callable(value))
        }

    def extra_repr(self) -> str:
        shown = {
            "dim": self.shape.dim,
            "heads": self.shape.heads,
            "length": self.shape.length,
            **self._options(),
        }
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


def _plain(owner: str, value: Any) -> Any:
    """The value as JSON could hold it: a dataclass becomes a dict, or what its own `config` says."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if callable(getattr(value, "config", None)):
        value = value.config()
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(owner, one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(owner, one) for one in value]
    raise ValueError(f"{owner} is no plain value that could be written down. Got {value!r}.")


def overrides(encoding: Encoding, hook: str) -> bool:
    """Whether this encoding's class has its own version of a hook."""
    return getattr(type(encoding), hook) is not getattr(Encoding, hook)


def needs_scores(encoding: Encoding) -> bool:
    """Whether it works on the scores or the weights themselves, so that they must be written down."""
    return overrides(encoding, "rescore") or overrides(encoding, "mix")


def difference(q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """q_pos − k_pos for every pair: (1|B, 1, Q, K), whole numbers, or `dtype` for real positions.

    >>> difference(torch.tensor([5, 6]), torch.tensor([4]))
    tensor([[[[1],
              [2]]]])
    """
    need_tensors(q_pos, k_pos)
    q_pos, k_pos = (
        pos if pos.is_floating_point() else pos.long() for pos in (q_pos, k_pos)
    )  # small integers wrap
    delta = q_pos[..., :, None] - k_pos[..., None, :]  # (…, Q, K), in the positions' own precision
    if delta.is_floating_point():
        delta = delta.to(dtype)
    return delta[None, None] if delta.dim() == 2 else delta[:, None]


def need_tensors(*positions: Tensor) -> None:
    """Refuse positions that are no tensors, such as a number of tokens."""
    for pos in positions:
        if not isinstance(pos, Tensor):
            raise ValueError(
                f"positions must be tensors, see locant.positions. Got {type(pos).__name__} instead."
            )


def refuse_float8(owner: str, *inputs: Tensor) -> None:
    """Refuse inputs of 8 bits, which torch can neither add nor multiply."""
    for x in inputs:
        if x.is_floating_point() and x.dtype.itemsize == 1:
            raise ValueError(
                f"{owner} cannot compute with {x.dtype}: cast to bfloat16 or float32 first."
            )


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
