"""Name an encoding's class so that every worker finds it: a word, or path.py:Class."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any


def entrant(given: Any) -> Any:
    """Return an entrant as a study takes it: a name, or a table of fields with a name in it."""
    if isinstance(given, type):
        return encoding_name(given)
    if hasattr(given, "model_dump"):
        return given.model_dump()
    if isinstance(given, dict) and isinstance(given.get("encoding"), type):
        return {**given, "encoding": encoding_name(given["encoding"])}
    if isinstance(given, str | dict):
        return given
    raise ValueError(
        f"encodings are names, classes, or tables with name, encoding and options. Got {given!r}."
    )


def encoding_name(cls: type) -> str:
    """Return the word for one of locant's classes, or path.py:Class for a user's own.

    >>> from locant.encodings.rotary import Rotary
    >>> encoding_name(Rotary)
    'rotary'
    """
    package, _, stem = cls.__module__.rpartition(".")
    if package == "locant.encodings":
        return stem
    path = _source_file(cls)
    if path is None or "." in cls.__qualname__:
        raise ValueError(
            f"{cls.__name__} is defined in a notebook, a prompt or a function. Every run has a "
            "process of its own, which finds a class by its file alone.\n"
            "  Put it at the top of a file, such as mine.py (in a notebook: %%writefile mine.py), "
            f"and pass 'mine.py:{cls.__name__}'."
        )
    inside = path.is_relative_to(Path.cwd())
    return f"{os.path.relpath(path) if inside else path}:{cls.__name__}"


def _source_file(cls: type) -> Path | None:
    try:
        found = inspect.getsourcefile(cls)
    except (TypeError, OSError):
        return None
    path = Path(found).resolve() if found else None
    return path if path is not None and path.is_file() else None
