"""Open the store behind a path that must be there: an SQLite file, or a file of packed studies."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from locant.lab.store.pack import unpack
from locant.lab.store.store import Store

FIRST = "Run a study first (locant compare order --quick)"


def open_store(path: Path) -> Store:
    """Open a store for reading; a store that is not there is not made."""
    if not path.is_file():
        raise ValueError(f"there is no store {path}. {FIRST}, or give another store (--store).")
    if not path.stat().st_size:
        raise ValueError(f"the store {path} is empty. {FIRST}, or give another store (--store).")
    return unpack(path) if path.suffix == ".gz" else Store(path)


@contextmanager
def sqlite_file(path: Path) -> Iterator[Path]:
    """Yield the SQLite file behind a path, there or not; packed studies get one for the time
    being."""
    if path.suffix != ".gz":
        yield path
        return
    store = open_store(path)
    try:
        yield store.path
    finally:
        shutil.rmtree(store.path.parent, ignore_errors=True)
