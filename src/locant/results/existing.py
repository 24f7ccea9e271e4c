"""The store behind a path that must be there: an SQLite file, or studies packed into a small one."""

from __future__ import annotations

from pathlib import Path

from locant.results.pack import unpack
from locant.results.store import Store


def existing(path: Path) -> Store:
    """Open it; a store that is not there is not made."""
    if not path.is_file():
        raise ValueError(
            f"there is no store {path}. Run a study first (locant compare order --quick), or give --store."
        )
    return unpack(path) if path.suffix == ".gz" else Store(path)
