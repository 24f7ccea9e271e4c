"""Where tokens are. Positions are data: plain tensors, made here or anywhere else.

(T) serves every row of a batch; (B,T) gives each row its own; a last dimension holds the axes of a grid.
The samplers at the end map positions to positions while training; they work with every encoding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from locant.errors import positive, whole_number

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "D": 86400 * 10**9}


class Packed(NamedTuple):
    """Several sequences in one row: their positions (T), and the mask (T,T) that keeps them apart."""

    positions: Tensor
    mask: Tensor


def consecutive(length: int, *, start: int = 0, device: torch.device | str | None = None) -> Tensor:
    """start, start + 1, …: (T).

    >>> consecutive(4).tolist()
    [0, 1, 2, 3]
    """
    whole_number("consecutive", "length", length, least=0)
    return torch.arange(start, start + length, device=device)


def from_mask(mask: Tensor) -> Tensor:
    """Positions of padded rows: each row counts its real tokens from 0, wherever the padding is: (B,T).

    mask is boolean, True where there is a token. Padding gets position 0.

    >>> from_mask(torch.tensor([[False, False, True, True], [True, True, True, False]])).tolist()
    [[0, 0, 0, 1], [0, 1, 2, 0]]
    """
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is boolean, True where there is a token. Got {mask.dtype}: write mask.bool().")
    if mask.dim() not in (1, 2):
        raise ValueError(f"a mask has the shape (T) or (B,T). Got {tuple(mask.shape)} instead.")
    return (mask.long().cumsum(-1) - 1).clamp_min(0) * mask


def packed(lengths: Sequence[int] | Tensor, *, device: torch.device | str | None = None) -> Packed:
    """Several sequences one after the other: positions start again, and no one sees another's tokens.

    >>> packed([2, 3]).positions.tolist()
    [0, 1, 0, 1, 2]
    >>> packed([1, 2]).mask.int().tolist()
    [[1, 0, 0], [0, 1, 1], [0, 1, 1]]
    """
    counts = [whole_number("packed", "a length", int(length)) for length in lengths]
    if not counts:
        raise ValueError("packed needs at least one length.")
    size = torch.tensor(counts, device=device)
    owner = torch.arange(len(counts), device=device).repeat_interleave(size)  # (T): which sequence
    start = (size.cumsum(0) - size).repeat_interleave(size)
    return Packed(torch.arange(len(owner), device=device) - start, owner[:, None] == owner[None, :])


def grid(*sizes: int, device: torch.device | str | None = None) -> Tensor:
    """The cells of a grid, row by row: (h·w, 2) for a plane, (t·h·w, 3) for a volume.

    >>> grid(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if len(sizes) < 2:
        raise ValueError(f"a grid has two sizes or more, as in grid(8, 8). Got {sizes!r} instead.")
    axes = [torch.arange(whole_number("grid", "a size", size), device=device) for size in sizes]
    return torch.cartesian_prod(*axes)


def timestamps(times: Any, *, unit: str | float | None = None, device: torch.device | str | None = None) -> Tensor:
    """Times as positions, counted from each row's first: (T) or (B,T), float64.

    times  datetime64, datetimes, ISO strings, a pandas or polars column, or numbers; any shape (T) or (B,T)
    unit   what one position is: "s", "min", "h", "D", … for times, a number for numbers.
           By default the usual (median) step, so that regular times become 0, 1, 2, …

    >>> timestamps(np.array(["2024-01-01T00:00", "2024-01-01T00:05", "2024-01-01T00:20"], dtype="datetime64[s]")).tolist()
    [0.0, 0.5, 2.0]
    >>> timestamps([10.0, 10.5, 12.0], unit=0.5).tolist()
    [0.0, 1.0, 4.0]
    """
    values = _as_numbers(times)
    if values.ndim not in (1, 2) or values.shape[-1] == 0:
        raise ValueError(f"times have the shape (T) or (B,T) with at least one time. Got {values.shape} instead.")
    since = values - values[..., :1]  # exact for whole nanoseconds, float64 otherwise
    step = _step(since, unit, is_time=values.dtype.kind == "i")
    return torch.as_tensor(since / step, dtype=torch.float64, device=device)


def _as_numbers(times: Any) -> np.ndarray:
    """Nanoseconds as int64 for times, float64 for numbers; what is missing is refused."""
    raw = times.detach().cpu().numpy() if isinstance(times, Tensor) else times
    raw = raw.to_numpy() if hasattr(raw, "to_numpy") else np.asarray(raw)
    if raw.dtype.kind == "O":
        raw = np.array([_utc(item) for item in raw.ravel()], dtype="datetime64[ns]").reshape(raw.shape)
    if raw.dtype.kind in "US":
        try:
            raw = raw.astype("datetime64[ns]")
        except ValueError as problem:
            raise ValueError(f"a time could not be read: {problem}. ISO 8601 is understood: 2024-01-31T12:00") from None
    if raw.dtype.kind == "M":
        if np.isnat(raw).any():
            raise ValueError(f"time number {int(np.isnat(raw).argmax())} is missing (NaT). Drop those rows first.")
        return np.asarray(raw.astype("datetime64[ns]").astype(np.int64))
    values = np.asarray(raw, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(
            f"time number {int((~np.isfinite(values)).argmax())} is not a finite number. Drop those rows first."
        )
    return values


def _utc(item: Any) -> np.datetime64:
    """One datetime as datetime64, in UTC when it has a zone."""
    if hasattr(item, "to_datetime64"):
        return np.datetime64(item.to_datetime64())
    if isinstance(item, datetime):
        shift = item.utcoffset()
        return np.datetime64((item - shift if shift else item).replace(tzinfo=None), "ns")
    if item is None:
        return np.datetime64("NaT")
    raise ValueError(f"{item!r} is not a time. Dates, datetimes, datetime64, ISO strings and numbers are understood.")


def _step(since: np.ndarray, unit: str | float | None, *, is_time: bool) -> float:
    """How much one position is."""
    if isinstance(unit, str):
        if not is_time or unit not in UNITS:
            kind = (
                f"Allowed: {', '.join(UNITS)}"
                if is_time
                else "These times are plain numbers: give the unit as a number."
            )
            raise ValueError(f"timestamps was asked for unit={unit!r}. {kind}")
        return float(UNITS[unit])
    if unit is not None:
        return positive("timestamps", "unit", unit)
    steps = np.abs(np.diff(since, axis=-1))
    steps = steps[steps > 0]
    return float(np.median(steps)) if steps.size else 1.0


def randomized(pos: Tensor, limit: int, *, generator: torch.Generator | None = None) -> Tensor:
    """Position p becomes the p-th smallest of a random subset of 0..limit−1, drawn anew for each row.

    Ruoss et al. 2023, arXiv:2305.16843: a model trained so has met the positions of longer sequences.

    >>> new = randomized(torch.arange(4), 100, generator=torch.Generator().manual_seed(0))
    >>> bool((new[1:] > new[:-1]).all()), int(new.max()) < 100
    (True, True)
    """
    _need_counting("randomized", pos)
    count = int(pos.max()) + 1
    if whole_number("randomized", "limit", limit) < count:
        raise ValueError(
            f"randomized was asked for limit={limit}, but the positions go to {count - 1}: use limit ≥ {count}."
        )
    rows = pos.reshape(-1, pos.shape[-1])
    noise = torch.rand(len(rows), limit, generator=generator, device=_device(generator))
    subset = noise.topk(count, -1).indices.sort(-1).values.to(pos.device)  # (rows, count)
    return subset.gather(-1, rows).reshape(pos.shape)


def cape(
    pos: Tensor,
    *,
    shift: float = 0.0,
    jitter: float = 0.0,
    stretch: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """λ·(p + Δ + ε): a random shift Δ ≤ ±shift and stretch λ in [1/stretch, stretch] a row, a jitter ε ≤ ±jitter a token.

    Likhomanenko et al. 2021, arXiv:2106.03143, eq. 3–6.

    >>> cape(torch.arange(3)).tolist()
    [0.0, 1.0, 2.0]
    """
    for name, value in (("shift", shift), ("jitter", jitter)):
        if not math.isfinite(value) or value < 0:
            raise ValueError(f"cape needs {name} ≥ 0. Got {value!r} instead.")
    if positive("cape", "stretch", stretch) < 1:
        raise ValueError(f"cape needs stretch ≥ 1. Got {stretch!r} instead.")
    real = pos.to(torch.promote_types(pos.dtype, torch.float32))

    def uniform(*size: int) -> Tensor:
        return (2 * torch.rand(*size, generator=generator, device=_device(generator)) - 1).to(real)

    one = (*pos.shape[:-1], 1)  # one number a row
    factor = torch.exp(math.log(stretch) * uniform(*one))
    return factor * (real + shift * uniform(*one) + jitter * uniform(*pos.shape))


def skips(pos: Tensor, limit: int, *, chunks: int = 2, generator: torch.Generator | None = None) -> Tensor:
    """Cut the positions into chunks and let each chunk but the first jump ahead, staying below `limit`.

    Zhu et al. 2024 (PoSE), arXiv:2309.10400: distances of a long text, seen in a short one. Each row is cut anew.

    >>> new = skips(torch.arange(6), 50, generator=torch.Generator().manual_seed(0))
    >>> int(new[0]), bool((new[1:] > new[:-1]).all()), int(new.max()) < 50
    (0, True, True)
    """
    _need_counting("skips", pos)
    count = int(pos.max()) + 1
    whole_number("skips", "chunks", chunks)
    if whole_number("skips", "limit", limit) < count:
        raise ValueError(
            f"skips was asked for limit={limit}, but the positions go to {count - 1}: use limit ≥ {count}."
        )
    rows = pos.reshape(-1, pos.shape[-1])
    where = _device(generator)
    cuts = torch.randint(1, max(count, 2), (len(rows), chunks - 1), generator=generator, device=where)
    jumps = torch.randint(0, limit - count + 1, (len(rows), chunks - 1), generator=generator, device=where)
    cuts, jumps = cuts.sort(-1).values.to(pos.device), jumps.sort(-1).values.to(pos.device)
    jumps = torch.cat([jumps.new_zeros(len(rows), 1), jumps], -1)  # the first chunk stays
    chunk = torch.searchsorted(cuts, rows.contiguous(), right=True)
    return (rows + jumps.gather(-1, chunk)).reshape(pos.shape)


def _device(generator: torch.Generator | None) -> torch.device:
    """Random numbers are drawn where their generator lives, so that a seed means the same on any device."""
    return torch.device("cpu") if generator is None else generator.device


def _need_counting(name: str, pos: Tensor) -> None:
    if pos.is_floating_point() or pos.numel() == 0 or int(pos.min()) < 0:
        raise ValueError(
            f"{name} maps whole-number positions from 0 up. Got {pos.dtype}, shape {tuple(pos.shape)} instead."
        )


def visible(values: Tensor) -> bool:
    """Whether a tensor's values can be looked at now: not while a graph is traced, on meta, or under vmap."""
    if torch.compiler.is_compiling() or values.is_meta:
        return False
    is_batched = getattr(torch._C._functorch, "is_batchedtensor", None)
    return not (is_batched is not None and is_batched(values))


def check(pos: Tensor, *, batch: int, length: int, axes: int, device: torch.device, name: str) -> None:
    """Refuse positions that do not fit their tokens, before torch broadcasts them without a word."""
    if not isinstance(pos, Tensor):
        raise ValueError(f"{name} must be a tensor of positions. Got {type(pos).__name__}: see locant.positions.")
    shape = tuple(pos.shape)
    tail = (length,) if axes == 1 else (length, axes)
    if shape not in (tail, (1, *tail), (batch, *tail)):
        allowed = " or ".join(str(one) for one in dict.fromkeys((tail, (batch, *tail))))
        raise ValueError(
            f"{name} has the shape {shape}, but there are {length} tokens in {batch} rows"
            f"{f' and {axes} axes' if axes > 1 else ''}.\n  Allowed: {allowed}"
        )
    if pos.dtype in (torch.bool, torch.complex64, torch.complex128):
        raise ValueError(f"{name} must be whole or real numbers. Got {pos.dtype} instead.")
    if pos.device != device:
        raise ValueError(
            f"{name} is on {pos.device}, but the tokens are on {device}. Move it: {name}.to({str(device)!r})."
        )
    if pos.is_floating_point() and visible(pos) and not bool(torch.isfinite(pos).all()):
        raise ValueError(
            f"{name} has positions that are not finite numbers (NaN or infinite). Drop or fill them first."
        )
