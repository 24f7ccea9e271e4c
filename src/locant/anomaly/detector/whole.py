"""Files written whole or not at all: a crash, a full disk or Ctrl-C leaves what was there before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A place beside the path to write to; it takes the path's name when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield half
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)
