"""Where tokens are. Positions are data: plain tensors, made here or anywhere else.

(T) serves every row of a batch; (B,T) gives each row its own; a last dimension holds the axes of a grid.
The samplers at the end map positions of one axis to positions while training; they work with every encoding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from locant.errors import at_least, positive, whole_number

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
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(f"a mask is a boolean tensor, True where there is a token. Got {kind}: write mask.bool().")
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
    if isinstance(lengths, Tensor):
        lengths = lengths.tolist()
    if not isinstance(lengths, Iterable):
        raise ValueError(f"packed needs a list of lengths, as in packed([4, 7]). Got {lengths!r} instead.")
    counts = [whole_number("packed", "a length", length) for length in lengths]
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
    values, tick = _as_numbers(times)
    if values.ndim not in (1, 2) or values.shape[-1] == 0:
        raise ValueError(f"times have the shape (T) or (B,T) with at least one time. Got {values.shape} instead.")
    values, tick = _roomy(values, tick)
    since = values - values[..., :1]  # exact for whole numbers, float64 otherwise
    return torch.as_tensor(since / _step(since, unit, tick), dtype=torch.float64, device=device)


def _as_numbers(times: Any) -> tuple[np.ndarray, int]:
    """Times as whole ticks, and the nanoseconds of a tick; plain numbers as they are, with a tick of 0."""
    raw = _as_array(times)
    if raw.dtype.kind == "O" and not _are_numbers(raw):
        raw = np.array([_moment(item) for item in raw.ravel()], dtype="datetime64").reshape(raw.shape)
    if raw.dtype.kind in "US":
        raw = np.array([_moment(str(item)) for item in raw.ravel()], dtype="datetime64").reshape(raw.shape)
    if raw.dtype.kind == "M":
        if np.isnat(raw).any():
            raise ValueError(f"time number {int(np.isnat(raw).argmax())} is missing (NaT). Drop those rows first.")
        unit = np.datetime_data(raw.dtype)[0]
        unit = unit if unit in ("ms", "us", "ns") else "s"  # seconds reach any year; nanoseconds only 292
        return raw.astype(f"datetime64[{unit}]").astype(np.int64), UNITS[unit]
    if raw.dtype.kind == "c":
        raise ValueError("times are real numbers, but these are complex.")
    values = raw if raw.dtype.kind in "iu" else np.asarray(raw, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(
            f"time number {int((~np.isfinite(values)).argmax())} is not a finite number. Drop those rows first."
        )
    return values, 0


def _roomy(values: np.ndarray, tick: int) -> tuple[np.ndarray, int]:
    """Whole numbers as int64, or in coarser ticks or float64 when their differences would not fit."""
    if values.dtype.kind not in "iu" or not values.size:
        return values, tick
    if int(values.max()) - int(values.min()) < 2**63 and int(values.max()) < 2**63:
        return values.astype(np.int64), tick
    return (values // 1000, 1000) if tick == 1 else (values.astype(np.float64), tick)


def _as_array(times: Any) -> np.ndarray:
    if hasattr(times, "columns"):
        raise ValueError(
            f"times are one column, but this is a whole table. Choose one: {', '.join(map(str, times.columns))}"
        )
    if isinstance(times, Tensor):
        exact = times.double() if times.is_floating_point() else times
        return exact.detach().cpu().numpy()
    try:
        return np.asarray(times.to_numpy() if hasattr(times, "to_numpy") else times)
    except ValueError as problem:
        raise ValueError(f"times have the shape (T) or (B,T), with rows of one length: {problem}.") from None


def _are_numbers(raw: np.ndarray) -> bool:
    """Whether an array of objects holds numbers, some of them missing; then they become NaN and are told."""
    return any(isinstance(item, float | int) for item in raw.ravel()[:1])


def _moment(item: Any) -> np.datetime64:
    """One date, datetime or ISO 8601 text as datetime64, in UTC when it has a zone."""
    if item is None:
        return np.datetime64("NaT")
    if hasattr(item, "to_datetime64"):
        return np.datetime64(item.to_datetime64())
    if isinstance(item, str):
        try:
            has_zone = item.endswith("Z") or "+" in item or item.count("-") > 2
            return _moment(datetime.fromisoformat(item)) if has_zone else np.datetime64(item)
        except ValueError:
            raise ValueError(
                f"{item!r} could not be read as a time. ISO 8601 is understood: 2024-01-31T12:00"
            ) from None
    if isinstance(item, datetime):
        shift = item.utcoffset()
        return np.datetime64((item - shift if shift else item).replace(tzinfo=None))
    if isinstance(item, date):
        return np.datetime64(item)
    raise ValueError(f"{item!r} is not a time. Dates, datetimes, datetime64, ISO strings and numbers are understood.")


def _step(since: np.ndarray, unit: str | float | None, tick: int) -> float:
    """How much one position is, in the numbers' own unit."""
    if unit is None:
        steps = np.abs(np.diff(since.astype(np.float64), axis=-1))
        steps = steps[steps > 0]
        return float(np.median(steps)) if steps.size else 1.0
    if not tick:
        if isinstance(unit, str):
            raise ValueError(
                f"timestamps was asked for unit={unit!r}, but these times are plain numbers: give a number."
            )
        return positive("timestamps", "unit", unit)
    if not isinstance(unit, str) or unit not in UNITS:
        raise ValueError(f"timestamps was asked for unit={unit!r}. Allowed: {', '.join(UNITS)}")
    return UNITS[unit] / tick


def randomized(pos: Tensor, limit: int, *, generator: torch.Generator | None = None) -> Tensor:
    """Position p becomes the p-th smallest of a random subset of 0..limit−1, drawn anew for each row.

    Ruoss et al. 2023, arXiv:2305.16843: a model trained so has met the positions of longer sequences.

    >>> new = randomized(torch.arange(4), 100, generator=torch.Generator().manual_seed(0))
    >>> bool((new[1:] > new[:-1]).all()), int(new.max()) < 100
    (True, True)
    """
    pos = _need_counting("randomized", pos)
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
    at_least("cape", "shift", shift, 0)
    at_least("cape", "jitter", jitter, 0)
    at_least("cape", "stretch", stretch, 1)
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
    pos = _need_counting("skips", pos)
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


def _need_counting(name: str, pos: Tensor) -> Tensor:
    """The positions as int64, when they are whole numbers from 0 up."""
    is_whole = isinstance(pos, Tensor) and not (pos.is_floating_point() or pos.is_complex() or pos.dtype == torch.bool)
    if not is_whole or pos.numel() == 0 or int(pos.min()) < 0:
        got = f"{pos.dtype}, shape {tuple(pos.shape)}" if isinstance(pos, Tensor) else type(pos).__name__
        raise ValueError(f"{name} maps whole-number positions from 0 up. Got {got} instead.")
    return pos.long()


def visible(values: Tensor) -> bool:
    """Whether a tensor's values can be looked at now: not while a graph is traced, on meta, or under vmap."""
    return not (torch.compiler.is_compiling() or values.is_meta or in_transform(values))


def in_transform(values: Tensor) -> bool:
    """Whether a tensor is inside one of torch.func's transforms, such as vmap or grad."""
    if torch.compiler.is_compiling():
        return False
    is_wrapped = getattr(torch._C._functorch, "is_functorch_wrapped_tensor", None)
    return is_wrapped is not None and bool(is_wrapped(values))


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
    if pos.is_complex() or pos.dtype == torch.bool:
        raise ValueError(f"{name} must be whole or real numbers. Got {pos.dtype} instead.")
    if pos.device != device:
        raise ValueError(
            f"{name} is on {pos.device}, but the tokens are on {device}. Move it: {name}.to({str(device)!r})."
        )
    if pos.is_floating_point() and visible(pos) and not bool(torch.isfinite(pos).all()):
        raise ValueError(
            f"{name} has positions that are not finite numbers (NaN or infinite). Drop or fill them first."
        )
