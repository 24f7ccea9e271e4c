"""Read what users write after --set: field=value."""

from __future__ import annotations

import ast
import tomllib
from typing import Any


def parse_assignment(text: str, example: str = "training.steps=100") -> tuple[str, Any]:
    """Split `field=value` and read the value as TOML, as a Python literal, or else as plain text.

    >>> parse_assignment("training.steps=100"), parse_assignment("pairing=half")
    (('training.steps', 100), ('pairing', 'half'))
    >>> parse_assignment("section=[16, 24, 24]"), parse_assignment("axes=True")
    (('section', [16, 24, 24]), ('axes', True))
    """
    field, sign, value = text.partition("=")
    field, value = field.strip(), value.strip()
    if not sign or not field:
        raise ValueError(f"--set needs field=value, such as --set {example}. Got {text!r} instead.")
    try:
        return field, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        return field, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return field, value
