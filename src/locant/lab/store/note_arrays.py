"""Arrays that runs keep for pictures (training/artifacts.py): as bytes in a store, as letters when
packed.

No torch.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUV"  # one for each of 32 shades
TO_LETTER = bytes(LETTERS[round(value * 31 / 255)] for value in range(256))
FROM_LETTER = bytes(round(max(0, LETTERS.find(letter)) * 255 / 31) for letter in range(256))


def read_array(note: dict[str, Any]) -> np.ndarray:
    """Read the array of a note, such as attention weights (layers, heads, T, T).

    >>> note = {"shape": [1, 2], "top": [0.5], "bytes": base64.b64encode(bytes([255, 0])).decode()}
    >>> read_array(note)
    array([[0.5, 0. ]])
    """
    import numpy as np

    small = np.frombuffer(base64.b64decode(note["bytes"]), np.uint8).reshape(note["shape"])
    top = np.array(note["top"]).reshape(*note["shape"][:-2], 1, 1)
    return small / 255 * top


def in_fewer_shades(notes: dict[str, Any]) -> dict[str, Any]:
    """Write every array of the notes as one letter a number, in 32 shades instead of 256.

    Letters compress better than base64, whose characters straddle the bytes.

    >>> note = {"shape": [1, 2], "top": [0.5], "bytes": base64.b64encode(bytes([255, 7])).decode()}
    >>> in_fewer_shades({"attention": note})["attention"]
    {'shape': [1, 2], 'top': [0.5], 'shades': 'V1'}
    >>> list(base64.b64decode(in_bytes(in_fewer_shades({"attention": note}))["attention"]["bytes"]))
    [255, 8]
    """
    return {name: _lettered(note) if _has(note, "bytes") else note for name, note in notes.items()}


def in_bytes(notes: dict[str, Any]) -> dict[str, Any]:
    """Turn letters back into the arrays that notes hold."""
    return {
        name: _unlettered(note) if _has(note, "shades") else note for name, note in notes.items()
    }


def _has(note: Any, key: str) -> bool:
    return isinstance(note, dict) and key in note


def _lettered(note: dict[str, Any]) -> dict[str, Any]:
    letters = base64.b64decode(note["bytes"]).translate(TO_LETTER).decode("ascii")
    return {**{key: value for key, value in note.items() if key != "bytes"}, "shades": letters}


def _unlettered(note: dict[str, Any]) -> dict[str, Any]:
    numbers = note["shades"].encode("ascii").translate(FROM_LETTER)
    kept = {key: value for key, value in note.items() if key != "shades"}
    return {**kept, "bytes": base64.b64encode(numbers).decode("ascii")}
