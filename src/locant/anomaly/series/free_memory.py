"""Check that a file fits into memory before it is read.

Afterwards is too late: polars ends the whole process when memory runs out.
"""

from __future__ import annotations

from pathlib import Path

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def check_memory(path: Path, needed: int) -> None:
    """Refuse a file that needs more bytes of memory than are free."""
    free = available_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"{path} needs about {needed / 1e9:.1f} GB of memory, but "
            f"{max(free, 0) / 1e9:.1f} GB are free.\n"
            "  Read a part of it (head -n 1000000), fewer columns, or use a larger machine."
        )


def available_memory() -> int | None:
    """Return the bytes this process may still take: the least that machine, cgroup, limit leave."""
    found = [free for free in (_of_machine(), _of_cgroup(), _of_limit()) if free is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_cgroup() -> int | None:
    try:
        most = int((CGROUP / "memory.max").read_text())
        return most - int((CGROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no cgroup, or "max"
        return None


def _of_limit() -> int | None:
    """Return half of what the address-space limit leaves: freed memory keeps its addresses."""
    if resource is None:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        pages = 0
    if most == resource.RLIM_INFINITY:
        return None
    return (most - pages * resource.getpagesize()) // 2
