"""Measure the peak memory of this process since it was last reset: one worker computes many
runs."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from pathlib import Path

SELF = Path("/proc/self")


def forget_peak() -> bool:
    """Return free memory to the system and reset the peak; False where the system cannot reset
    it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        (SELF / "clear_refs").write_text("5")
        return True
    return False


def megabytes_now() -> float | None:
    """Return the resident memory of this process; None where the system does not report it."""
    return _status_megabytes("VmRSS:")


def peak_megabytes() -> float:
    """Return the peak since the last reset; where it cannot be reset, the peak of the whole
    process."""
    peak = _status_megabytes("VmHWM:")
    if peak is not None:
        return peak
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _status_megabytes(field: str) -> float | None:
    """Read one memory field of /proc/self/status."""
    with suppress(OSError):
        for line in (SELF / "status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    return None
