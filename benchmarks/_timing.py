"""Timing that can be trusted as ratios: everything interleaved in one run, medians, and their spread."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch


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
