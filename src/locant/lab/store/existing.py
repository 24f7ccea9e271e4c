"""The store behind a path that must be there: an SQLite file, or studies packed into a small one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from locant.lab.store.pack import unpack
from locant.lab.store.store import Store


def existing(path: Path) -> Store:
    """Open it; a store that is not there is not made."""
    if not path.is_file():
        raise ValueError(
            f"there is no store {path}. Run a study first (locant compare order --quick), or give --store."
        )
    if not path.stat().st_size:
        raise ValueError(
            f"the store {path} is empty. Run a study first (locant compare order --quick), or give another."
        )
    return unpack(path) if path.suffix == ".gz" else Store(path)


@contextmanager
def at_hand(path: Path) -> Iterator[Path]:
    """The SQLite file behind a path, there or not: itself, or what a packed one holds, for the time being."""
    if path.suffix != ".gz":
        yield path
        return
    store = existing(path)
    try:
        yield store.path
    finally:
        shutil.rmtree(store.path.parent, ignore_errors=True)
