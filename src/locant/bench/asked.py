"""What was asked for: threads, how long, and whom to tell what is being measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """quick: short lengths and few turns, to see that it works; not to be quoted."""

    threads: int
    quick: bool
    tell: Callable[[str], None]

    @property
    def seconds(self) -> float:
        """For about how long each comparison takes turns."""
        return 0.3 if self.quick else 5.0
