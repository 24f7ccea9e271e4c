"""Timing that can be trusted as ratios: everything interleaved in one run, medians, and their spread."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import torch

MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "1000000000",
    "MALLOC_TOP_PAD_": "500000000",
}


def keep_memory() -> None:
    """Start this program again with an allocator that keeps what it has, so that ratios are not about page faults.

    As it comes, glibc may give large blocks back to the system and ask for them anew at every call; whether it does is a
    matter of luck, and then a plain copy into a new tensor costs six times one into an old tensor.
    """
    if any(os.environ.get(key) != value for key, value in MALLOC.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **MALLOC})


def medians(
    work: dict[str, Callable[[], object]], *, rounds: int = 31, warm: int = 3
) -> dict[str, tuple[float, float]]:
    """Median seconds and relative spread (half the interquartile range over the median) of each piece of work."""
    for one in work.values():
        for _ in range(warm):
            one()
    seen: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, one in work.items():
            start = time.perf_counter()
            one()
            seen[name].append(time.perf_counter() - start)
    result = {}
    for name, times in seen.items():
        times.sort()
        low, middle, high = (times[len(times) * part // 4] for part in (1, 2, 3))
        result[name] = (middle, (high - low) / 2 / middle)
    return result


def table(title: str, heads: list[str], rows: list[list[str]]) -> None:
    """A Markdown table, so that it can be pasted as it is."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def machine() -> str:
    return f"torch {torch.__version__}, {torch.get_num_threads()} thread(s), CPU"
