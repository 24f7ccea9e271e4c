"""Other people's code as an encoding, so that it can be certified beside ours.

Two kinds are understood: a module that adds something to embeddings, and a function that turns
queries and keys.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from locant._internal.checks import did_you_mean
from locant.encodings.base import Encoding
from locant.encodings.claims import CLAIMS
from locant.shapes import Shape


def adapt(
    thing: nn.Module | Callable[..., Any],
    *,
    dim: int,
    heads: int = 1,
    length: int = 512,
    module: nn.Module | None = None,
    **claims: bool,
) -> Encoding:
    """Make an encoding of a plain module or function.

    thing   a module called as module(x) or module(x, pos) that gives x (B,T,D) with positions in it
            (a second argument
            that may be left out is taken for positions when its name says "pos"); or a function (q,
            k, pos) → (q, k) on (B,H,T,d) and (T) or (B,T)
    module  what the function works with; then it is called as (module, q, k, pos), and casts and
            copies reach the module
    claims  what it is held to, such as shift_invariant=True; see locant.encodings.claims

    >>> class Ramp(torch.nn.Module):
    ...     def forward(self, x, pos):
    ...         return x + pos[..., None].to(x.dtype)
    >>> ramp = adapt(Ramp(), dim=8, extrapolates=True)
    >>> ramp.embed(torch.zeros(1, 2, 8), torch.tensor([3, 4]))[0, :, 0].tolist()
    [3.0, 4.0]
    """
    shape = Shape(dim, heads, length)
    if isinstance(thing, nn.Module):
        encoding: Encoding = OnInput(shape, thing)
    elif callable(thing):
        encoding = OnQueriesAndKeys(shape, thing, module)
    else:
        raise ValueError(f"adapt needs a module or a function. Got {type(thing).__name__} instead.")
    for claim, value in claims.items():
        if claim not in CLAIMS:
            raise ValueError(
                f"there is no claim {claim!r}.{did_you_mean(claim, CLAIMS)}\n  Claims: "
                f"{', '.join(CLAIMS)}"
            )
        setattr(encoding, claim, bool(value))
    return encoding


class Adapted(Encoding):
    """What every adapted module or function has in common."""

    module: nn.Module | None

    def reset_parameters(self) -> None:
        """Call `reset_parameters` of the module, and of every module in it that has one."""
        if self.module is None:
            return
        for part in self.module.modules():
            reset: Callable[[], None] | None = getattr(part, "reset_parameters", None)
            if reset is not None:
                reset()


class OnInput(Adapted):
    """A module that adds something to embeddings."""

    module: nn.Module

    def __init__(self, shape: Shape, module: nn.Module) -> None:
        super().__init__(shape)
        self.module = module
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        second = [
            p for p in inspect.signature(module.forward).parameters.values() if p.kind in kinds
        ][1:2]
        self.takes_positions = any(p.default is p.empty or "pos" in p.name for p in second)

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        return self.module(x, pos) if self.takes_positions else self.module(x)


class OnQueriesAndKeys(Adapted):
    """A function of queries, keys and positions."""

    def __init__(
        self, shape: Shape, function: Callable[..., Any], module: nn.Module | None
    ) -> None:
        super().__init__(shape)
        self.function, self.module = function, module

    def _call(self, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        turned = (
            self.function(q, k, pos)
            if self.module is None
            else self.function(self.module, q, k, pos)
        )
        return turned[0], turned[1]

    def rotate(
        self, q: Tensor, k: Tensor, q_pos: Tensor, k_pos: Tensor, precomputed: Any = None
    ) -> tuple[Tensor, Tensor]:
        if q_pos is k_pos:
            return self._call(q, k, q_pos)
        return self._call(q, q, q_pos)[0], self._call(k, k, k_pos)[1]
