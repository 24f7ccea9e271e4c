"""Errors of a store that cannot be used: what happened, what is still there, what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

WAYS_OUT = {  # by SQLite's primary result code
    sqlite3.SQLITE_FULL: "make room on the disk",
    sqlite3.SQLITE_IOERR: "see that the disk has room and answers",
    sqlite3.SQLITE_BUSY: "wait for the program that holds it, or end that",
    sqlite3.SQLITE_READONLY: "make it writable",
}
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
DAMAGED = (
    "It is damaged or no store of locant's, and was left as it is. "
    "Restore it from a copy, or give another store (--store)."
)
ALLOWED = (
    "It must be an SQLite file of locant's in a folder that can be written; "
    "give another store (--store)."
)

INTACT = "Every run kept before is intact"


class StoreError(ValueError):
    """The store cannot be used; the message says why and what to do."""


def store_error(path: Path, purpose: str, problem: Exception, timeout: float) -> StoreError:
    """Return the error to raise when the store cannot be "opened", "read" or "written".

    >>> print(store_error(Path("runs.sqlite"), "read", OSError("the cable is out"), 60))
    the store runs.sqlite cannot be read: the cable is out.
      It must be an SQLite file of locant's in a folder that can be written; give another store ...
    """
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF  # the primary code is the lowest byte
    waited = (
        f" by another program for more than {timeout:g} s" if code == sqlite3.SQLITE_BUSY else ""
    )
    advice = _advice(code, purpose, problem)
    return StoreError(f"the store {path} cannot be {purpose}: {problem}{waited}.\n  {advice}")


def _advice(code: int, purpose: str, problem: Exception) -> str:
    if code in DAMAGE or isinstance(problem, ValueError):  # not SQLite, or text that is not JSON
        return DAMAGED
    if code not in WAYS_OUT:
        return ALLOWED
    way_out = WAYS_OUT[code]
    if purpose == "written":
        return f"{INTACT}: {way_out}, and the same command goes on from there."
    return f"Nothing was changed: {way_out}, and give the same command again."


def unwritable_run_files(problem: str) -> StoreError:
    """Return the error to raise when a run could not write its files.

    >>> print(unwritable_run_files("runs/best.safetensors: No space left on device"))
    a run could not write its files: runs/best.safetensors: No space left on device.
      Every run kept before is intact: mend that, and the same command goes on from there.
    """
    return StoreError(
        f"a run could not write its files: {problem}.\n"
        f"  {INTACT}: mend that, and the same command goes on from there."
    )


def foreign_database(path: Path, tables: list[str]) -> StoreError:
    """Return the error to raise when a database is not locant's."""
    return StoreError(
        f"the store {path} cannot be opened: it is a database of another program, or of another "
        "version of locant.\n"
        f"  It was left as it is. Its tables: {', '.join(tables)}. Give another store (--store)."
    )
