"""Times as positions: any common way of writing them, rebased exactly, in a unit."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant._internal.checks import positive

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
        raise ValueError(
            f"times have the shape (T) or (B,T) with at least one time. Got {values.shape} instead."
        )
    values, tick = _roomy(values, tick)
    since = values - values[..., :1]  # exact for whole numbers, float64 otherwise
    return torch.as_tensor(since / _step(since, unit, tick), dtype=torch.float64, device=device)


def _as_numbers(times: Any) -> tuple[np.ndarray, int]:
    """Times as whole ticks, and the nanoseconds of a tick; plain numbers as they are, with a tick of 0."""
    raw = _as_array(times)
    if raw.dtype.kind == "O" and not _are_numbers(raw):
        raw = np.array([_moment(item) for item in raw.ravel()], dtype="datetime64").reshape(
            raw.shape
        )
    if raw.dtype.kind in "US":
        raw = np.array([_moment(str(item)) for item in raw.ravel()], dtype="datetime64").reshape(
            raw.shape
        )
    if raw.dtype.kind == "M":
        if np.isnat(raw).any():
            raise ValueError(
                f"time number {int(np.isnat(raw).argmax())} is missing (NaT). Drop those rows first."
            )
        unit = np.datetime_data(raw.dtype)[0]
        unit = (
            unit if unit in ("ms", "us", "ns") else "s"
        )  # seconds reach any year; nanoseconds only 292
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
        raise ValueError(
            f"times have the shape (T) or (B,T), with rows of one length: {problem}."
        ) from None


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
    raise ValueError(
        f"{item!r} is not a time. Dates, datetimes, datetime64, ISO strings and numbers are understood."
    )


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
