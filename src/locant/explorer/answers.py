"""Numbers as JSON that a browser can read: short, and without NaN or infinity, for which JSON has no words."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

DIGITS = 6  # of the largest number of an array


def answer(value: Any) -> bytes:
    """Anything made of dictionaries, lists, words, numbers and arrays.

    >>> answer({"values": np.array([1 / 3, np.nan]), "far": float("inf"), "at": (1, 2)})
    b'{"values":[0.333333,null],"far":null,"at":[1,2]}'
    """
    return json.dumps(
        plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).encode()


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _array(values: np.ndarray) -> list[Any]:
    if values.dtype.kind != "f":
        return list(plain(values.tolist()))
    finite = np.isfinite(values)
    most = float(np.abs(values[finite]).max()) if finite.any() else 0.0
    digits = DIGITS - math.ceil(math.log10(most)) if most > 0 else 0
    rounded = np.round(values, digits) + 0.0 if -300 < digits < 300 else values
    return list(rounded.tolist() if finite.all() else plain(rounded.tolist()))
