"""What a benchmark is asked for: threads, duration, and where progress is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class BenchOptions:
    """Options of every part of the bench.

    quick   short lengths and few turns, to see that it works; the numbers are not to be quoted
    report  is called with what is being measured
    """

    threads: int
    quick: bool
    report: Callable[[str], None]

    @property
    def seconds(self) -> float:
        """About how long each comparison takes turns."""
        return 0.3 if self.quick else 5.0
