"""Frequencies in a geometric row, and the angle that a position has in each of them.

    ω_c = base^(−2c/width),  c = 0, 1, …         angle_c(p) = p·ω_c

Computed in float64 (positions up to 10⁹ keep their angles) and never stored: a module cast to
bfloat16, or made on the meta device, has no frequencies that could be rounded or lost.
"""

from __future__ import annotations

import torch
from torch import Tensor

from locant.encodings.base import wide


def frequencies(width: int, base: float | Tensor, device: torch.device) -> Tensor:
    """base^(−2c/width) for every pair of a width, rounded up: (⌈width/2⌉).

    >>> [round(w, 4) for w in frequencies(4, 10_000.0, torch.device("cpu")).tolist()]
    [1.0, 0.01]
    """
    exponent = torch.arange(0, -width, -2, device=device, dtype=wide(device)) / width
    return base**exponent


def angles(pos: Tensor, frequency: Tensor) -> Tensor:
    """p·ω for every position and frequency: (…, T, pairs)."""
    return pos[..., None].to(frequency.dtype) * frequency


def axial_angles(pos: Tensor, frequency: Tensor, axes: int) -> Tensor:
    """One row of frequencies for each axis, side by side: (…, T, axes·pairs)."""
    if axes == 1:
        return angles(pos, frequency)
    return angles(pos, frequency).flatten(-2)  # (…, T, axes, pairs) → (…, T, axes·pairs)
