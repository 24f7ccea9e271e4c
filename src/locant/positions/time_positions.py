"""Convert timestamps to positions: times in any common format, rebased exactly, in a unit."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant._internal.checks import positive
from locant.positions.timestamp_parser import parse_all

UNITS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "D": 86400 * 10**9,
}


def timestamps(
    times: Any, *, unit: str | float | None = None, device: torch.device | str | None = None
) -> Tensor:
    """Convert times to positions, counted from each row's first time: (T) or (B,T), float64.

    times  datetime64, datetimes, text in any common format (2024-01-31T12:00, 31/01/2024, 31 Jan
           2024, …), a pandas or polars column, or numbers: (T) or (B,T)
    unit   the length of one position: "s", "min", "h", "D", … for times, a number for numbers.
           By default the median step, so that regular times become 0, 1, 2, …

    >>> timestamps(["2024-01-01T00:00", "2024-01-01T00:05", "2024-01-01T00:20"]).tolist()
    [0.0, 0.5, 2.0]
    >>> timestamps([10.0, 10.5, 12.0], unit=0.5).tolist()
    [0.0, 1.0, 4.0]
    """
    values, tick = _as_numbers(times)
    if values.ndim not in (1, 2) or values.shape[-1] == 0:
        raise ValueError(
            f"times have the shape (T) or (B,T) with at least one time. Got {values.shape} instead."
        )
    values, tick = _without_overflow(values, tick)
    since = values - values[..., :1]  # exact for whole numbers, float64 otherwise
    return torch.as_tensor(since / _step(since, unit, tick), dtype=torch.float64, device=device)


def _as_numbers(times: Any) -> tuple[np.ndarray, int]:
    """Convert times to ticks and the nanoseconds of a tick; numbers stay, with a tick of 0."""
    raw = _as_array(times)
    if raw.dtype.kind in "US" or (raw.dtype.kind == "O" and not _are_numbers(raw)):
        raw = _as_datetimes(raw.ravel().tolist()).reshape(raw.shape)
    if raw.dtype.kind == "M":
        if np.isnat(raw).any():
            missing = int(np.isnat(raw).argmax())
            raise ValueError(f"time number {missing} is missing (NaT). Drop those rows first.")
        unit = np.datetime_data(raw.dtype)[0]
        if unit not in ("ms", "us", "ns"):
            unit = "s"  # seconds reach any year; nanoseconds only 292
        return raw.astype(f"datetime64[{unit}]").astype(np.int64), UNITS[unit]
    if raw.dtype.kind == "c":
        raise ValueError("times are real numbers, but these are complex.")
    values = raw if raw.dtype.kind in "iu" else np.asarray(raw, dtype=np.float64)
    if not np.isfinite(values).all():
        wrong = int((~np.isfinite(values)).argmax())
        raise ValueError(f"time number {wrong} is not a finite number. Drop those rows first.")
    return values, 0


def _without_overflow(values: np.ndarray, tick: int) -> tuple[np.ndarray, int]:
    """Return whole numbers as int64, in coarser ticks or float64 if their differences overflow."""
    if values.dtype.kind not in "iu" or not values.size:
        return values, tick
    if int(values.max()) - int(values.min()) < 2**63 and int(values.max()) < 2**63:
        return values.astype(np.int64), tick
    return (values // 1000, 1000) if tick == 1 else (values.astype(np.float64), tick)


def _as_array(times: Any) -> np.ndarray:
    if hasattr(times, "columns"):
        names = ", ".join(map(str, times.columns))
        raise ValueError(f"times are one column, but this is a table. Choose one of: {names}")
    if isinstance(times, Tensor):
        exact = times.double() if times.is_floating_point() else times
        return exact.detach().cpu().numpy()
    try:
        return np.asarray(times.to_numpy() if hasattr(times, "to_numpy") else times)
    except ValueError as problem:
        raise ValueError(
            f"times have the shape (T) or (B,T), with rows of one length: {problem}."
        ) from None


def _are_numbers(raw: np.ndarray) -> bool:
    """Whether an array of objects holds numbers; missing ones become NaN and are refused later."""
    return any(isinstance(item, float | int) for item in raw.ravel()[:1])


def _as_datetimes(items: list[Any]) -> np.ndarray:
    """Convert dates, datetimes and texts to datetime64, in UTC where they have a zone."""
    items = [item.decode() if isinstance(item, bytes) else item for item in items]
    texts = [item for item in items if isinstance(item, str)]
    parsed = parse_all(texts)
    if len(texts) == len(items):
        return parsed
    rest = iter(parsed)
    mixed = [next(rest) if isinstance(item, str) else _as_datetime(item) for item in items]
    return np.array(mixed, dtype="datetime64")


def _as_datetime(item: Any) -> np.datetime64:
    """Convert one date or datetime to datetime64, in UTC when it has a zone."""
    if item is None:
        return np.datetime64("NaT")
    if hasattr(item, "to_datetime64"):
        return np.datetime64(item.to_datetime64())
    if isinstance(item, datetime):
        shift = item.utcoffset()
        return np.datetime64((item - shift if shift else item).replace(tzinfo=None))
    if isinstance(item, date):
        return np.datetime64(item)
    raise ValueError(
        f"{item!r} is not a time. Dates, datetimes, datetime64, text and numbers are understood."
    )


def _step(since: np.ndarray, unit: str | float | None, tick: int) -> float:
    """Return the length of one position, in the numbers' own unit."""
    if unit is None:
        steps = np.abs(np.diff(since.astype(np.float64), axis=-1))
        steps = steps[steps > 0]
        return float(np.median(steps)) if steps.size else 1.0
    if not tick:
        if isinstance(unit, str):
            raise ValueError(
                f"timestamps was asked for unit={unit!r}, but these times are plain numbers: "
                "give a number."
            )
        return positive("timestamps", "unit", unit)
    if not isinstance(unit, str) or unit not in UNITS:
        raise ValueError(f"timestamps was asked for unit={unit!r}. Allowed: {', '.join(UNITS)}")
    return UNITS[unit] / tick
