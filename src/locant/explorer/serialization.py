"""Write numbers as JSON that a browser can read: short, and without NaN and infinity, which JSON
lacks."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

DIGITS = 6  # of the largest number of an array


def to_json(value: Any) -> bytes:
    """Encode anything made of dictionaries, lists, strings, numbers and arrays.

    >>> to_json({"values": np.array([1 / 3, np.nan]), "far": float("inf"), "pair": (1, 2)})
    b'{"values":[0.333333,null],"far":null,"pair":[1,2]}'
    """
    text = json.dumps(_encodable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()


def _encodable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_encodable(item) for item in value]
    if isinstance(value, np.ndarray):
        return _rounded(value)
    if isinstance(value, np.generic):
        return _encodable(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _rounded(values: np.ndarray) -> list[Any]:
    """Round an array to a few digits of its largest number."""
    if values.dtype.kind != "f":
        return list(_encodable(values.tolist()))
    finite = np.isfinite(values)
    largest = float(np.abs(values[finite]).max()) if finite.any() else 0.0
    digits = DIGITS - math.ceil(math.log10(largest)) if largest > 0 else 0
    if -300 < digits < 300:
        values = np.round(values, digits) + 0.0
    return list(values.tolist() if finite.all() else _encodable(values.tolist()))
