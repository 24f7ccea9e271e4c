"""The offset's matrix: one M that moves every position's vector by k, PE(p + k) = M·PE(p); and a
part of it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from locant.encodings.base import Encoding
from locant.figures.data._sinusoids import pair_dimensions, vector_frequencies
from locant.figures.data.base import NotApplicable, Numbers, position_vectors

ORDER = 60
OFFSET = 5  # k, in positions
FAR = 100_000  # positions, so that the slowest waves turn too
CORNER = 8  # dimensions whose entries are printed
TOLERANCE = 1e-6  # a fit with a smaller error counts as exact


def measure(encoding: Encoding, **_: float) -> Numbers:
    """Fit M on every second position, and measure its error at the others relative to their
    norm."""
    positions = _fitted_positions(encoding)
    if len(positions) < 4:
        raise NotApplicable(f"it has too few positions for an offset of {OFFSET}")
    here = position_vectors(encoding, positions)
    there = position_vectors(encoding, positions + OFFSET)
    fit, _residuals, rank, _values = torch.linalg.lstsq(here[::2], there[::2], driver="gelsd")
    rest = here[1::2] @ fit - there[1::2]
    error = float((rest.norm(dim=1) / there[1::2].norm(dim=1)).max())
    if not error <= TOLERANCE:
        raise NotApplicable(
            f"no single matrix moves every position by {OFFSET}: "
            f"the best one has a relative error of {error:.2g} at some"
        )
    if int(rank) < here.shape[1]:
        raise NotApplicable(
            f"its {len(positions)} vectors do not determine which matrix moves them by {OFFSET}; "
            "try more positions"
        )
    return {
        "transformation": np.ascontiguousarray(fit.numpy().T),
        "offset": OFFSET,
        "error": error,
        "corner": _corner(encoding),
    }


def _corner(encoding: Encoding) -> list[int]:
    """Choose the first few dimensions, those of one pair side by side."""
    width = position_vectors(encoding, torch.arange(1)).shape[1]
    pairs = pair_dimensions(vector_frequencies(encoding))
    paired = [column for pair in pairs for column in pair]
    single = [column for column in range(width) if column not in paired]
    return [*paired, *single][:CORNER]


def _fitted_positions(encoding: Encoding) -> Tensor:
    """Choose neighbors first, where curves show; then far positions, where slow waves show."""
    if not encoding.extrapolates:
        return torch.arange(max(0, encoding.shape.length - OFFSET))
    near = torch.arange(2 * max(encoding.shape.length, encoding.shape.dim))
    far = torch.randint(FAR, (len(near),), generator=torch.Generator().manual_seed(0))
    return torch.cat([near, far])
