"""The contract: five hooks through which an encoding may tell attention where tokens are.

Each hook does nothing by default; override the ones yours uses. Positions are data: integer or
real, shape (T), (B,T), or with a last dimension for the axes when `axes` > 1. Queries and keys have
their own. Nothing changes in forward: no counters, no growing tables.

    x ── embed ──► projections ──► q, k ── rotate ──► q·kᵀ/√d ── rescore ──► + bias ──► softmax
      ── mix ──► out

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
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import type_before_parametrizations

from locant.encodings.claims import warn_of_learned
from locant.encodings.registry import NO_ENCODINGS
from locant.shapes import Shape

if TYPE_CHECKING:
    from locant.encodings._score_mod import ScoreMod


class Encoding(nn.Module):
    """A way of telling attention where tokens are."""

    # What each claim means: locant/encodings/claims.py. An option that changes a claim sets it on
    # the instance.
    shift_invariant: bool = False
    extrapolates: bool = False
    real_positions: bool = False
    causal_only: bool = False
    cacheable_keys: bool = False
    prefers_near: bool = False
    bounded: bool = False
    linear_offset: bool = False
    goes_by_positions: bool = True
    tells_order: bool = True
    tells_direction: bool = True

    axes: int = 1  # how many numbers one position has
    parameter_count: str = "0"  # a formula in dim, heads, length, head and the encoding's options
    paper: str = ""
    added_width: int = 0  # how many features `embed` appends

    _requested: tuple[str, dict[str, Any]] | None = None  # name and options that `make` was given

    def __init_subclass__(cls, **more: Any) -> None:
        """Take a parameter count that is stated under its old name, `learned`."""
        super().__init_subclass__(**more)
        old = vars(cls).get("learned")
        if isinstance(old, str) and "parameter_count" not in vars(cls):
            warn_of_learned(f"{_file_name(cls)}:{cls.__name__}")
            cls.parameter_count = old
        for hook, count in (("rescore", 7), ("mix", 6)):
            if hook in vars(cls):
                _need_may_see(cls, hook, count)

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x: Tensor, pos: Tensor | None = None) -> Tensor:
        """Return `embed(x, pos)`, so that hooks and wrappers of modules reach it."""
        if pos is None:
            raise ValueError(
                "positions are passed, never guessed: encoding(x, pos), see locant.positions"
            )
        return self.embed(x, pos)

    def sense(self, x: Tensor, pos: Tensor, past: Tensor | None = None) -> Tensor | None:
        """Return a state of every token, (B, 1|H, T, ·), from a layer's own input x (B,T,D).

        The states of queries and keys are handed to `state_bias`; a cache keeps those of the keys.

        past  the states of the tokens in the cache, (B, 1|H, K, ·); None when there are none
        """
        return None

    def precompute(self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype) -> Any:
        """Compute what `rotate` needs from positions alone, once for all layers of a forward pass.

        When it is not None, `rotate` is given it as `precomputed`.
        """
        return None

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        """Return what the input x (B,T,D) becomes at positions pos (T) or (B,T)."""
        return x

    def rotate(
        self, q: Tensor, k: Tensor, q_pos: Tensor, k_pos: Tensor, precomputed: Any = None
    ) -> tuple[Tensor, Tensor]:
        """Return what queries q (B,H,Q,d) and keys k (B,H,K,d) become; their width may change."""
        return q, k

    def temperature(self, q_pos: Tensor) -> Tensor | None:
        """Return what multiplies the rotated queries, (Q) or (B,Q); None when nothing does."""
        return None

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor | None:
        """Return what is added to the scaled scores, from positions alone: (1|B, 1|H, Q, K)."""
        return None

    def state_bias(
        self, q_pos: Tensor, k_pos: Tensor, q_state: Tensor, k_state: Tensor
    ) -> Tensor | None:
        """Return what is added to the scaled scores, from what `sense` returned: (B, 1|H, Q, K)."""
        return None

    def state_features(self, q_state: Tensor, k_state: Tensor) -> tuple[Tensor, Tensor] | None:
        """Return features (B, 1|H, Q, f) and (B, 1|H, K, f) whose products are the `state_bias`.

        Queries and keys that are so much wider then carry it through plain attention. None when
        the `state_bias` is no product of a few features.
        """
        return None

    def rescore(
        self,
        scores: Tensor,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        """Return what the scores (B,H,Q,K) become when content is needed.

        The scale is in q: scores = q·kᵀ. Scores of hidden keys are numbers like any other; they
        become −∞ later.

        may_see  boolean, broadcastable to (B,H,Q,K): which keys a query may see, by the mask, the
                 causal order and a bias of −∞; None when every query sees every key
        """
        return scores

    def mix(
        self,
        weights: Tensor,
        v: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        """Return the outputs (B,H,Q,d) of weights (B,H,Q,K) and values v (B,H,K,d).

        may_see  as for `rescore`; weights of hidden keys are 0
        """
        return weights @ v

    def move_keys(self, k: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Return cached keys, rotated for old_pos, as `rotate` makes them for new_pos: (B,H,K,·).

        For `Cache.shift`. Override it beside a `rotate` whose keys can be cached.
        """
        if not overrides(self, "rotate"):
            return k
        raise ValueError(
            f"{type(self).__name__} does not say what a key that was rotated for one position "
            "becomes at another.\n"
            "  Override move_keys(k, old_pos, new_pos), or compute the keys again: a fresh pass."
        )

    def move_states(self, state: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Return cached states of tokens at old_pos as `sense` makes them at new_pos.

        For `Cache.shift`. Override it beside `sense`; where that reads no positions, return state.
        """
        raise ValueError(
            f"{type(self).__name__} does not say what the states of tokens become at other "
            "positions.\n"
            "  Override move_states(state, old_pos, new_pos), or compute them again: a fresh pass."
        )

    def keep_states(self, state: Tensor, kept: Tensor) -> Tensor:
        """Return the states of the tokens `kept` (indices) as if there had been no others.

        For `Cache.drop`. Override it beside `sense`; where a state depends on its own token
        alone, that is state[..., kept, :].
        """
        raise ValueError(
            f"{type(self).__name__} does not say what the states of tokens become when others are "
            "dropped.\n"
            "  Override keep_states(state, kept), or compute them again: a fresh pass."
        )

    def score_mod(self, q_pos: Tensor, k_pos: Tensor) -> ScoreMod | None:
        """Return the bias as a score_mod of torch's flex_attention; None when nothing is added.

        flex_attention is given the queries and keys that `rotate` returns (times `temperature`),
        and the scale of the width before. Order and padding are its block_mask. An encoding that
        needs more than a score, a head and two positions is refused with the reason.

        >>> from torch.nn.attention.flex_attention import flex_attention
        >>> alibi, pos = make("alibi", dim=32, heads=2), locant.positions.consecutive(6)
        >>> q, k, v = torch.randn(3, 1, 2, 6, 16).unbind()
        >>> out = flex_attention(q, k, v, score_mod=alibi.score_mod(pos, pos), scale=16**-0.5)
        >>> out.allclose(locant.attend(q, k, v, encoding=alibi, q_pos=pos, k_pos=pos), atol=1e-5)
        True
        """
        from locant.encodings._score_mod import make_score_mod

        return make_score_mod(self, q_pos, k_pos)

    def reset_parameters(self) -> None:
        """Give parameters and buffers the numbers of a fresh encoding, in place.

        After meta and `to_empty` they hold whatever was in memory. Call it on the encoding, not on
        the layers inside it. The random numbers are drawn as the constructor draws them.

        >>> t5 = make("t5", dim=8, heads=2).to("meta").to_empty(device="cpu")
        >>> _ = torch.manual_seed(0)
        >>> t5.reset_parameters()
        >>> _ = torch.manual_seed(0)
        >>> torch.equal(t5.table, make("t5", dim=8, heads=2).table)
        True
        """
        fresh = self.rebuilt()
        with torch.no_grad():
            for name, number in [*self.named_parameters(), *self.named_buffers()]:
                owner, _, key = name.rpartition(".")
                number.copy_(getattr(fresh.get_submodule(owner), key))

    def rebuilt(self) -> Encoding:
        """Build the encoding once more, with the same shape and options and fresh numbers."""
        cls = type_before_parametrizations(self)
        try:
            return cls(self.shape, **self._options())
        except TypeError as problem:
            raise ValueError(
                f"{cls.__name__} cannot be built again from its shape and options: {problem}.\n"
                "  Give it a reset_parameters of its own."
            ) from None

    def config(self) -> dict[str, Any]:
        """Return the plain values that build it again, untrained: `make(**encoding.config())`.

        >>> make("t5", dim=8, heads=2, buckets=16).config()
        {'name': 't5', 'dim': 8, 'heads': 2, 'length': 512,
         'buckets': 16, 'max_distance': 128, 'sides': 'both', 'std': 0.02}
        """
        name = self._requested[0] if self._requested is not None else self._own_name()
        if not name:
            kind = type_before_parametrizations(self).__name__
            raise ValueError(
                f"{kind} was not made by name, so no name leads back to its class.\n"
                f"  Make it by the file that it stands in: locant.make('path.py:{kind}', dim=…)"
            )
        options = {}
        for option, value in self._options().items():
            options[option] = _plain(f"{name}: {option}", value)
        return {
            "name": name,
            "dim": self.shape.dim,
            "heads": self.shape.heads,
            "length": self.shape.length,
            **options,
        }

    def _own_name(self) -> str:
        """Return the name of a class that comes with locant; an empty text for any other."""
        package, _, name = type_before_parametrizations(self).__module__.rpartition(".")
        return name if package == __package__ and name not in NO_ENCODINGS else ""

    def _options(self) -> dict[str, Any]:
        """Return the constructor's options.

        For a user's class they are what `make` was given; else the attributes of the same names.
        """
        if self._requested is not None and not self._own_name():
            return self._requested[1]
        options = {}
        for name in constructor_options(type(self)):
            value = getattr(self, name, self)  # self: there is no attribute of this name
            if not (isinstance(value, Tensor) or callable(value)):
                options[name] = value
        return options

    def extra_repr(self) -> str:
        shown = {
            "dim": self.shape.dim,
            "heads": self.shape.heads,
            "length": self.shape.length,
            **self._options(),
        }
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


def constructor_options(cls: type[Encoding]) -> dict[str, Any]:
    """Return the keyword options of a class with their defaults.

    A constructor with **options passes them on, so the options of the class above it count too.
    """
    options: dict[str, Any] = {}
    for owner in cls.__mro__:
        if owner is Encoding:
            break
        if "__init__" not in vars(owner):
            continue
        parameters = inspect.signature(vars(owner)["__init__"]).parameters.values()
        own = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        options = own | options
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return options


def _file_name(cls: type) -> str:
    """Return the name of the file that defines a class, or of its module when there is no file."""
    module = sys.modules.get(cls.__module__)
    return Path(getattr(module, "__file__", None) or cls.__module__).name


def _need_may_see(cls: type, hook: str, count: int) -> None:
    """Refuse a hook that cannot be told which keys may be seen: it would be given too much."""
    try:
        inspect.signature(vars(cls)[hook]).bind(*range(count))
    except TypeError:
        raise ValueError(
            f"{cls.__name__}.{hook} has no argument may_see, which says which keys a query may "
            f"see.\n  Add it at the end of its arguments: {hook}(…, q_pos, k_pos, may_see=None)"
        ) from None


def _plain(owner: str, value: Any) -> Any:
    """Return a value as JSON can hold it; a dataclass becomes a dict, or what its `config`
    returns."""
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
    """Tell whether the encoding's class has, or inherits, its own version of a hook."""
    return getattr(type(encoding), hook) is not getattr(Encoding, hook)


def newer(encoding: Encoding, hook: str, other: str) -> bool:
    """Tell whether a subclass replaced `hook` without replacing `other`, which goes with it."""
    order = type(encoding).__mro__
    definers = [next(cls for cls in order if name in vars(cls)) for name in (hook, other)]
    return order.index(definers[0]) < order.index(definers[1])


def senses(encoding: Encoding) -> bool:
    """Tell whether an encoding has a state of every token, from the input of a layer."""
    return overrides(encoding, "sense")


def needs_scores(encoding: Encoding) -> bool:
    """Tell whether an encoding works on scores or weights, so that they must be materialized."""
    return overrides(encoding, "rescore") or overrides(encoding, "mix")


def difference(q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return q_pos − k_pos for every pair: (1|B, 1, Q, K), integers, or `dtype` for real positions.

    >>> difference(torch.tensor([5, 6]), torch.tensor([4]))
    tensor([[[[1],
              [2]]]])
    """
    need_tensors(q_pos, k_pos)
    q_pos = q_pos if q_pos.is_floating_point() else q_pos.long()  # small integers would wrap
    k_pos = k_pos if k_pos.is_floating_point() else k_pos.long()
    delta = q_pos[..., :, None] - k_pos[..., None, :]  # (…, Q, K), in the positions' own precision
    if delta.is_floating_point():
        delta = delta.to(dtype)
    return delta[None, None] if delta.dim() == 2 else delta[:, None]


def need_tensors(*positions: Tensor) -> None:
    """Refuse positions that are no tensors, such as a number of tokens."""
    for pos in positions:
        if not isinstance(pos, Tensor):
            raise ValueError(
                f"positions must be tensors, see locant.positions. "
                f"Got {type(pos).__name__} instead."
            )


def refuse_float8(owner: str, *inputs: Tensor) -> None:
    """Refuse inputs of 8 bits, which torch can neither add nor multiply."""
    for x in inputs:
        if x.is_floating_point() and x.dtype.itemsize == 1:
            raise ValueError(
                f"{owner} cannot compute with {x.dtype}: cast to bfloat16 or float32 first."
            )


def wide(device: torch.device) -> torch.dtype:
    """Return the widest float dtype of a device: angles are computed in it and cast last."""
    return torch.float32 if device.type == "mps" else torch.float64


def through(network: nn.Sequential, x: Tensor) -> Tensor:
    """Apply a small network in float32 or wider, whatever its dtype: positions are not rounded."""
    precise = torch.promote_types(x.dtype, torch.float32)
    x = x.to(precise)
    for layer in network:
        if isinstance(layer, nn.Linear):
            constant = None if layer.bias is None else layer.bias.to(precise)
            x = nn.functional.linear(x, layer.weight.to(precise), constant)
        else:
            x = layer(x)
    return x
