"""Ratios that can be trusted: work by turns in one process, the median of all turns, its spread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

MAX_SPREAD = 0.25  # a ratio that varies more says nothing
MIN_TURNS, MAX_TURNS = 5, 61

Work = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    """A ratio of two times, and its spread.

    The spread is half the interquartile range of the turns, as a share of the ratio; NaN when there
    were too few turns.
    """

    value: float
    spread: float

    @property
    def means_something(self) -> bool:
        return not self.spread > MAX_SPREAD

    def __str__(self) -> str:
        """Format the ratio with its spread; a ratio that varies too much is left out.

        >>> str(Ratio(1.287, 0.04)), str(Ratio(1.287, 0.4)), str(Ratio(1.287, math.nan))
        ('1.29 ± 4 %', 'too noisy (± 40 %)', '1.29 (few turns)')
        """
        if math.isnan(self.spread):
            return f"{self.value:.2f} (few turns)"
        spread = f"± {100 * self.spread:.0f} %"
        return f"{self.value:.2f} {spread}" if self.means_something else f"too noisy ({spread})"

    def plain(self) -> dict[str, Any]:
        """Return values that JSON can hold; no ratio at all where it would mislead."""
        spread = None if math.isnan(self.spread) else round(self.spread, 4)
        return {"ratio": round(self.value, 4) if self.means_something else None, "spread": spread}


def ratios(
    work: Mapping[str, Work], base: str, *, seconds: float = 5.0, warm: int = 2
) -> dict[str, Ratio]:
    """Time each piece of work as a multiple of `base`, by turns, for about `seconds`."""
    found = turns(work, seconds=seconds, warm=warm)
    return {name: over(times, found[base]) for name, times in found.items()}


def turns(work: Mapping[str, Work], *, seconds: float, warm: int) -> dict[str, list[float]]:
    """Return the seconds of each piece of work in every turn."""
    for _ in range(warm):
        once = {name: timed(one) for name, one in work.items()}
    rounds = max(MIN_TURNS, min(MAX_TURNS, int(seconds / max(sum(once.values()), 1e-6))))
    each = [{name: timed(one) for name, one in work.items()} for _ in range(rounds)]
    return {name: [once[name] for once in each] for name in work}


def over(times: list[float], base: list[float]) -> Ratio:
    """Divide times by those of `base` in the same turn, and summarize the ratios."""
    return summarize([one / other for one, other in zip(times, base, strict=True)])


def timed(work: Work) -> float:
    """Return the seconds that one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def summarize(values: list[float]) -> Ratio:
    """Summarize ratios by their median and spread.

    >>> summarize([1.0, 3.0, 2.0, 2.0, 2.5])
    Ratio(value=2.0, spread=0.125)
    """
    if len(values) < 3:
        return Ratio(median(values), math.nan)
    low, middle, high = (sorted(values)[len(values) * part // 4] for part in (1, 2, 3))
    return Ratio(middle, (high - low) / 2 / middle)
