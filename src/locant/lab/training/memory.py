"""The most memory that this process has held since it was told to forget: a worker computes many runs."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from pathlib import Path

SELF = Path("/proc/self")


def forget_peak() -> bool:
    """Give free memory back and start counting anew; False where a system cannot, and the process's peak stays what is told."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        (SELF / "clear_refs").write_text("5")
        return True
    return False


def megabytes_now() -> float | None:
    """What this process holds, where the system tells it."""
    with suppress(OSError):
        for line in (SELF / "status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return None


def peak_megabytes() -> float:
    """The peak since then."""
    with suppress(OSError):
        for line in (SELF / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
