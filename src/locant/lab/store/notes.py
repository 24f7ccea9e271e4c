"""Numbers that a run kept for pictures (training/notes.py), read back. No torch."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def unpacked(note: dict[str, Any]) -> np.ndarray:
    """The array behind a note such as attention (layers, heads, T, T).

    >>> unpacked({"shape": [1, 2], "top": [0.5], "bytes": base64.b64encode(bytes([255, 0])).decode()})
    array([[0.5, 0. ]])
    """
    small = np.frombuffer(base64.b64decode(note["bytes"]), np.uint8).reshape(note["shape"])
    top = np.array(note["top"]).reshape(*note["shape"][:-2], 1, 1)
    return small / 255 * top
