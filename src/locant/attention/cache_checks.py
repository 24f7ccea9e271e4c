"""What `Cache.shift` and `Cache.drop` refuse, and which positions and tokens they mean."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from locant import positions
from locant._internal.checks import whole_number
from locant.encodings.base import Encoding, newer, overrides
from locant.encodings.registry import describe, names


def refuse_embedded(encoding: Encoding) -> None:
    """Refuse to move tokens whose positions are in the input, and so in keys and values."""
    if not overrides(encoding, "embed"):
        return
    others = [name for name in names() if "embed" not in describe(name).hooks]
    raise ValueError(
        f"{type(encoding).__name__} puts positions into the input, so cached keys and values hold "
        "the old ones and cannot be moved.\n"
        "  Compute the tokens again at their new positions, or use an encoding that leaves the "
        f"input alone: {', '.join(others)}"
    )


def refuse_inherited(encoding: Encoding, hook: str, other: str) -> None:
    """Refuse a class that replaced a hook and inherits what belongs to the hook it replaced."""
    if newer(encoding, hook, other):
        raise ValueError(
            f"{type(encoding).__name__} has a {hook} of its own, but not the {other} that goes "
            f"with it.\n  Override {other} too, or compute the tokens again: a fresh pass."
        )


def moved_positions(pos: Tensor, k: Tensor, encoding: Encoding, by: float | Tensor) -> Tensor:
    """Return the positions of keys k (B,G,T,d), moved by a number or by a tensor of numbers."""
    if isinstance(by, bool) or not isinstance(by, int | float | Tensor):
        raise ValueError(
            f"Cache.shift needs a number of positions, or a tensor of them. Got {by!r} instead."
        )
    try:
        new_pos = pos + by
    except RuntimeError:
        assert isinstance(by, Tensor)
        raise ValueError(
            f"a shift of shape {tuple(by.shape)} does not fit positions of shape "
            f"{tuple(pos.shape)}: give one number, or one for each token."
        ) from None
    batch, _, length, _ = k.shape
    positions.check(
        new_pos,
        batch=batch,
        length=length,
        axes=encoding.axes,
        device=k.device,
        name="the shifted pos",
    )
    rounded = new_pos.is_floating_point() and not pos.is_floating_point()
    if rounded and not encoding.real_positions:
        raise ValueError(
            f"{type(encoding).__name__} takes whole positions, but a shift by {by} was asked for. "
            "Give a whole number."
        )
    return new_pos


def evicted(
    count: int, oldest: int | None, sinks: int, indices: Sequence[int] | Tensor | None
) -> set[int]:
    """Return the indices of the tokens to drop, of `count` tokens."""
    if (oldest is None) == (indices is None):
        raise ValueError(
            "Cache.drop needs oldest=… (how many of the oldest tokens) or indices=…, one of them."
        )
    if oldest is not None:
        whole_number("Cache.drop", "oldest", oldest, least=0)
        whole_number("Cache.drop", "sinks", sinks, least=0)
        if sinks + oldest > count:
            raise ValueError(
                f"the cache holds {count} tokens, of which {sinks} stay as sinks: {oldest} cannot "
                f"be dropped. Allowed: oldest=0..{max(count - sinks, 0)}"
            )
        return set(range(sinks, sinks + oldest))
    if sinks:
        raise ValueError("sinks goes with oldest: leave the sinks out of indices instead.")
    flat = indices.tolist() if isinstance(indices, Tensor) else indices
    if not isinstance(flat, Sequence) or isinstance(flat, str):
        raise ValueError(f"indices must be a list of whole numbers. Got {indices!r} instead.")
    for index in flat:
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            raise ValueError(
                f"the cache holds {count} tokens, the same for every row. Allowed in indices: "
                f"whole numbers 0..{count - 1}. Got {index!r}."
            )
    return set(flat)
