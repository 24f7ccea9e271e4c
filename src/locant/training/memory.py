"""The most memory that this process has held since it was told to forget: a worker computes many runs."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress
from pathlib import Path

SELF = Path("/proc/self")


def forget_peak() -> None:
    """Give free memory back and start counting anew; where a system cannot, the process's peak stays what is told."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        (SELF / "clear_refs").write_text("5")


def peak_megabytes() -> float:
    """The peak since then."""
    with suppress(OSError):
        for line in (SELF / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
