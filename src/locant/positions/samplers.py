"""Samplers map positions to positions while training; they work with every encoding."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from locant._internal.checks import at_least, positive, whole_number


def randomized(pos: Tensor, limit: int, *, generator: torch.Generator | None = None) -> Tensor:
    """Map position p to the p-th smallest of a random subset of 0..limit−1, drawn for each row.

    Ruoss et al. 2023, arXiv:2305.16843: a model trained so has met the positions of longer
    sequences.

    >>> new = randomized(torch.arange(4), 100, generator=torch.Generator().manual_seed(0))
    >>> bool((new[1:] > new[:-1]).all()), int(new.max()) < 100
    (True, True)
    """
    pos = _need_counting("randomized", pos)
    count = int(pos.max()) + 1
    if whole_number("randomized", "limit", limit) < count:
        raise ValueError(
            f"randomized was asked for limit={limit}, but the positions go to {count - 1}: use "
            f"limit ≥ {count}."
        )
    rows = pos.reshape(-1, pos.shape[-1])
    noise = torch.rand(len(rows), limit, generator=generator, device=_device(generator))
    subset = noise.topk(count, -1).indices.sort(-1).values.to(pos.device)  # (rows, count)
    return subset.gather(-1, rows).reshape(pos.shape)


def random_floats(
    pos: Tensor, limit: float = 1.0, *, generator: torch.Generator | None = None
) -> Tensor:
    """Map position p of n to the p-th smallest of n random numbers from [0, limit), for each row.

    Random Float Sampling: Shimizu et al. 2026, arXiv:2602.14050. Sequences of every length cover
    the same range. When nothing is drawn any more, `even_floats` gives the positions.

    >>> new = random_floats(torch.arange(4), 8.0, generator=torch.Generator().manual_seed(0))
    >>> bool((new[1:] > new[:-1]).all()), bool((new >= 0).all() and (new < 8).all())
    (True, True)
    """
    pos = _need_counting("random_floats", pos)
    positive("random_floats", "limit", limit)
    rows = pos.reshape(-1, pos.shape[-1])
    size = (len(rows), int(pos.max()) + 1)
    drawn = torch.rand(size, generator=generator, device=_device(generator), dtype=torch.float64)
    ordered = (limit * drawn).sort(-1).values.to(pos.device)  # (rows, count)
    return ordered.gather(-1, rows).reshape(pos.shape)


def even_floats(pos: Tensor, count: int, limit: float = 1.0) -> Tensor:
    """Map position p to (p + ½)·limit/count, for a model that was trained with `random_floats`.

    count  the longer of the trained length and the length at hand; positions that are cached were
           made with the same count

    >>> even_floats(torch.arange(4), 4).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """
    pos = _need_counting("even_floats", pos)
    positive("even_floats", "limit", limit)
    if whole_number("even_floats", "count", count) <= int(pos.max()):
        raise ValueError(
            f"even_floats was asked for count={count}, but the positions go to {int(pos.max())}: "
            f"use count ≥ {int(pos.max()) + 1}."
        )
    return (pos.double() + 0.5) * (limit / count)


def jittered(
    points: Tensor,
    *,
    shift: float = 0.0,
    jitter: float = 1.0,
    rescale: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Shift points (…,T,axes), stretch each axis by its own factor, and all axes by another.

    shift    each axis of a row moves by a number from [−shift, shift]
    jitter   each axis of a row is multiplied by a factor from [1/jitter, jitter], log-uniform
    rescale  a row is multiplied by one factor from [1/rescale, rescale], log-uniform

    The augmentation of DINOv3's coordinates, Siméoni et al. 2025, arXiv:2508.10104; made for
    `centered_grid`.

    >>> jittered(torch.tensor([[0.5, -0.5]])).tolist()
    [[0.5, -0.5]]
    """
    at_least("jittered", "shift", shift, 0)
    at_least("jittered", "jitter", jitter, 1)
    at_least("jittered", "rescale", rescale, 1)
    if not isinstance(points, Tensor) or points.dim() < 2:
        got = tuple(points.shape) if isinstance(points, Tensor) else type(points).__name__
        raise ValueError(f"jittered maps points of shape (…,T,axes). Got {got} instead.")
    real = points.to(torch.promote_types(points.dtype, torch.float32))

    def uniform(axes: int) -> Tensor:
        size = (*points.shape[:-2], 1, axes)
        return (2 * torch.rand(size, generator=generator, device=_device(generator)) - 1).to(real)

    moved = real + shift * uniform(points.shape[-1])
    stretched = moved * torch.exp(math.log(jitter) * uniform(points.shape[-1]))
    return stretched * torch.exp(math.log(rescale) * uniform(1))


def cape(
    pos: Tensor,
    *,
    shift: float = 0.0,
    jitter: float = 0.0,
    stretch: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Map p to λ·(p + Δ + ε), as CAPE does.

    shift    |Δ| ≤ shift, one a row
    stretch  λ in [1/stretch, stretch], one a row
    jitter   |ε| ≤ jitter, one a token

    Likhomanenko et al. 2021, arXiv:2106.03143, eq. 3–6.

    >>> cape(torch.arange(3)).tolist()
    [0.0, 1.0, 2.0]
    """
    at_least("cape", "shift", shift, 0)
    at_least("cape", "jitter", jitter, 0)
    at_least("cape", "stretch", stretch, 1)
    real = pos.to(torch.promote_types(pos.dtype, torch.float32))

    def uniform(*size: int) -> Tensor:
        return (2 * torch.rand(*size, generator=generator, device=_device(generator)) - 1).to(real)

    one = (*pos.shape[:-1], 1)  # one number a row
    factor = torch.exp(math.log(stretch) * uniform(*one))
    return factor * (real + shift * uniform(*one) + jitter * uniform(*pos.shape))


def skips(
    pos: Tensor, limit: int, *, chunks: int = 2, generator: torch.Generator | None = None
) -> Tensor:
    """Cut the positions into chunks and let each chunk but the first jump ahead, staying below
    `limit`.

    Zhu et al. 2024 (PoSE), arXiv:2309.10400: distances of a long text, seen in a short one. Each
    row is cut anew.

    >>> new = skips(torch.arange(6), 50, generator=torch.Generator().manual_seed(0))
    >>> int(new[0]), bool((new[1:] > new[:-1]).all()), int(new.max()) < 50
    (0, True, True)
    """
    pos = _need_counting("skips", pos)
    count = int(pos.max()) + 1
    whole_number("skips", "chunks", chunks)
    if whole_number("skips", "limit", limit) < count:
        raise ValueError(
            f"skips was asked for limit={limit}, but the positions go to {count - 1}: use limit ≥ "
            f"{count}."
        )
    rows = pos.reshape(-1, pos.shape[-1])
    where = _device(generator)
    cuts = torch.randint(
        1, max(count, 2), (len(rows), chunks - 1), generator=generator, device=where
    )
    jumps = torch.randint(
        0, limit - count + 1, (len(rows), chunks - 1), generator=generator, device=where
    )
    cuts, jumps = cuts.sort(-1).values.to(pos.device), jumps.sort(-1).values.to(pos.device)
    jumps = torch.cat([jumps.new_zeros(len(rows), 1), jumps], -1)  # the first chunk stays
    chunk = torch.searchsorted(cuts, rows.contiguous(), right=True)
    return (rows + jumps.gather(-1, chunk)).reshape(pos.shape)


def _device(generator: torch.Generator | None) -> torch.device:
    """Draw random numbers on the generator's device, so that a seed means the same on any
    device."""
    return torch.device("cpu") if generator is None else generator.device


def _need_counting(name: str, pos: Tensor) -> Tensor:
    """The positions as int64, when they are whole numbers from 0 up."""
    is_whole = isinstance(pos, Tensor) and not (
        pos.is_floating_point() or pos.is_complex() or pos.dtype == torch.bool
    )
    if not is_whole or pos.numel() == 0 or int(pos.min()) < 0:
        got = (
            f"{pos.dtype}, shape {tuple(pos.shape)}"
            if isinstance(pos, Tensor)
            else type(pos).__name__
        )
        raise ValueError(f"{name} maps whole-number positions from 0 up. Got {got} instead.")
    return pos.long()
