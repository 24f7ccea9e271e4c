"""Faults that can be had anywhere, by root and by others, and that are over when a test is."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sqlite3
from pathlib import Path


@contextlib.contextmanager
def little_room(size: int):
    """No file may grow beyond `size` bytes: what a full disk is to a program, root's included."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def ordinary_user():
    """Modes of files bite, for root too: without its capabilities it is an owner like any other."""
    if os.geteuid() != 0:
        yield
        return
    libc, head = (
        ctypes.CDLL(None, use_errno=True),
        (ctypes.c_uint32 * 2)(0x20080522, 0),
    )  # version 3, this thread
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    assert libc.capget(head, sets) == 0
    none_effective = (ctypes.c_uint32 * 6)(0, *sets[1:3], 0, *sets[4:6])
    assert libc.capset(head, none_effective) == 0
    try:
        yield
    finally:
        assert libc.capset(head, sets) == 0


@contextlib.contextmanager
def locked(path: Path):
    """Somebody else holds the database."""
    with contextlib.closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.rollback()
