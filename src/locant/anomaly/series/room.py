"""Whether a file fits into memory, asked before it is read: polars ends the whole process when memory runs out."""

from __future__ import annotations

from pathlib import Path

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

MEMORY, GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def needs_room(path: Path, need: int) -> None:
    """Refuse a file that needs more bytes than there are."""
    free = available()
    if free is not None and need > free:
        raise ValueError(
            f"{path} needs about {need / 1e9:.1f} GB of memory, but {max(free, 0) / 1e9:.1f} GB are free.\n"
            "  Read a part of it (head -n 1000000), fewer columns of it, or use a larger machine."
        )


def available() -> int | None:
    """The bytes that this process may still take: the least of what the machine, its group and its limit leave."""
    found = [free for free in (_machine(), _group(), _limit()) if free is not None]
    return min(found, default=None)


def _machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _group() -> int | None:
    try:
        return int((GROUP / "memory.max").read_text()) - int((GROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no group, or "max"
        return None


def _limit() -> int | None:
    """Half of what the limit on addresses leaves: freed memory keeps its address for a while."""
    if resource is None:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        pages = 0
    return None if most == resource.RLIM_INFINITY else (most - pages * resource.getpagesize()) // 2
