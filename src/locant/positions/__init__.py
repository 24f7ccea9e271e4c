"""Where tokens are. Positions are data: plain tensors, made here or anywhere else.

(T) serves every row of a batch; (B,T) gives each row its own; a last dimension holds the axes of a
grid. The names are loaded when they are first used: the timestamp parser needs no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from locant.positions.makers import Packed as Packed
    from locant.positions.makers import centered_grid as centered_grid
    from locant.positions.makers import consecutive as consecutive
    from locant.positions.makers import from_mask as from_mask
    from locant.positions.makers import grid as grid
    from locant.positions.makers import packed as packed
    from locant.positions.packing import Mask as Mask
    from locant.positions.packing import SegmentMask as SegmentMask
    from locant.positions.packing import densify as densify
    from locant.positions.samplers import cape as cape
    from locant.positions.samplers import even_floats as even_floats
    from locant.positions.samplers import jittered as jittered
    from locant.positions.samplers import random_floats as random_floats
    from locant.positions.samplers import randomized as randomized
    from locant.positions.samplers import skips as skips
    from locant.positions.shape_checks import check as check
    from locant.positions.shape_checks import in_transform as in_transform
    from locant.positions.shape_checks import visible as visible
    from locant.positions.spacing import Spacing as Spacing
    from locant.positions.spacing import evenly_spaced as evenly_spaced
    from locant.positions.time_positions import timestamps as timestamps

_HOME = {
    "check": "shape_checks",
    "in_transform": "shape_checks",
    "visible": "shape_checks",
    "Packed": "makers",
    "centered_grid": "makers",
    "consecutive": "makers",
    "from_mask": "makers",
    "grid": "makers",
    "packed": "makers",
    "cape": "samplers",
    "even_floats": "samplers",
    "jittered": "samplers",
    "random_floats": "samplers",
    "randomized": "samplers",
    "skips": "samplers",
    "Mask": "packing",
    "SegmentMask": "packing",
    "densify": "packing",
    "Spacing": "spacing",
    "evenly_spaced": "spacing",
    "timestamps": "time_positions",
}


def __getattr__(name: str) -> Any:
    """Load a public name or a module when it is first used, and keep it."""
    if name in _HOME.values():
        return import_module(f"locant.positions.{name}")
    if name not in _HOME:
        raise AttributeError(f"locant.positions has no name {name!r}. It has: {', '.join(_HOME)}")
    value = getattr(import_module(f"locant.positions.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOME)
