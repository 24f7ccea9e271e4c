"""Write files whole or not at all, and say beforehand when a path cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; it takes the name of `path` when the block succeeds.

    A crash, a full disk or Ctrl-C leaves the old file as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def check_file(option: str, path: Path) -> None:
    """Refuse a path to which no file can be written, before anything runs; no folder is made."""
    try:
        if path.is_dir():
            raise ValueError(f"{option} {path} is a folder. Name a file in it: {path / 'name'}")
        _check_nearest(option, path, path.parent)
        if path.exists() and not os.access(path, os.W_OK):
            raise ValueError(f"{option} {path} cannot be written: it is read-only.")
    except OSError as problem:  # a name that is too long, a folder that may not be entered
        raise unwritable(option, path, problem) from None


def check_folder(option: str, folder: Path) -> None:
    """Refuse a folder to which nothing can be written, before anything runs; no folder is made."""
    try:
        _check_nearest(option, folder, folder)
    except OSError as problem:
        raise unwritable(option, folder, problem) from None


def unwritable(option: str, path: Path, problem: OSError) -> ValueError:
    """Return the error that tells a user why a path could not be written."""
    reason = problem.strerror or str(problem)
    return ValueError(f"{option} {path} cannot be written: {reason}. Choose another path.")


def _check_nearest(option: str, path: Path, folder: Path) -> None:
    """Look at the nearest folder that exists."""
    nearest = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not nearest.is_dir():
        raise ValueError(
            f"{option} {path} cannot be written: {nearest} is a file. Choose another path."
        )
    if not os.access(nearest, os.W_OK):
        raise ValueError(
            f"{option} {path} cannot be written: {nearest} is read-only. Choose another path."
        )
