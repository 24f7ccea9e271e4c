"""The offset's transformation matrix: M with PE(p + k) = M·PE(p) for every p, where there is such a matrix."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from locant.encodings.base import Encoding
from locant.figures.data.hooks import NotOffered, Numbers, vectors
from locant.figures.data.vectors import found
from locant.figures.data.waves import pairs

OFFSET = 5  # k, in positions
FAR = 100_000  # positions, so that the slowest waves turn too
CORNER = 8  # dimensions whose entries are printed
EXACT = 1e-6  # a fit that misses less is a law


def offset(encoding: Encoding) -> Numbers:
    """The matrix fitted on every second position, and what it misses at the others as a share of their length."""
    at = _positions(encoding)
    if len(at) < 4:
        raise NotOffered(f"it has too few positions for an offset of {OFFSET}")
    here, there = vectors(encoding, at), vectors(encoding, at + OFFSET)
    fit, _, rank, _ = torch.linalg.lstsq(here[::2], there[::2], driver="gelsd")
    left = here[1::2] @ fit - there[1::2]
    missed = float((left.norm(dim=1) / there[1::2].norm(dim=1)).max())
    if not missed <= EXACT:
        raise NotOffered(
            f"no one matrix moves every position by {OFFSET}: the best misses some by {missed:.2g} of their length"
        )
    if int(rank) < here.shape[1]:
        raise NotOffered(
            f"its {len(at)} vectors leave open which matrix moves them by {OFFSET}; more positions may tell"
        )
    transformation = np.ascontiguousarray(fit.numpy().T)
    return {
        "transformation": transformation,
        "offset": OFFSET,
        "missed": missed,
        "corner": _corner(encoding),
    }


def _corner(encoding: Encoding) -> list[int]:
    """The first few dimensions, those that turn together side by side."""
    width = vectors(encoding, torch.arange(1)).shape[1]
    together = [column for pair in pairs(found(encoding)) for column in pair]
    return [*together, *(column for column in range(width) if column not in together)][:CORNER]


def _positions(encoding: Encoding) -> Tensor:
    """Neighbours first, where curves show; then far ones, where slow waves show."""
    if not encoding.extrapolates:
        return torch.arange(max(0, encoding.shape.length - OFFSET))
    near = torch.arange(2 * max(encoding.shape.length, encoding.shape.dim))
    far = torch.randint(FAR, (len(near),), generator=torch.Generator().manual_seed(0))
    return torch.cat([near, far])
