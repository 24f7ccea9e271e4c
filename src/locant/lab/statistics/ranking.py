"""Rank the entrants of a study, and test which of them can be distinguished.

The families of comparisons are named beforehand, and each is corrected in itself. One family holds
every encoding against every other. Each reference (a control such as none, or a baseline) has a
family of its own: all encodings against it. So a dozen baselines cost the encodings no power.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from locant.lab.statistics.paired import Difference, compare, corrected_level, interval, step_down

ALPHA = 0.05
Pair = tuple[str, str]


@dataclass(frozen=True)
class RankedEntrant:
    """One entrant: its mean with an interval, and its group of encodings.

    Group 1 is the best encoding with all that cannot be distinguished from it, group 2 the best of
    the rest likewise, and so on; a reference has group 0.
    """

    name: str
    mean: float
    low: float
    high: float
    group: int
    scores: tuple[float, ...]

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Ranking:
    """Entrants from best to worst, and the differences that were tested, with their corrected p."""

    entrants: list[RankedEntrant]
    differences: dict[Pair, Difference]
    corrected: dict[Pair, float]
    higher_is_better: bool
    seeds: int
    level: float  # of one paired test as hard to pass as one among all pairs of encodings

    def difference(self, a: str, b: str) -> tuple[Difference, float]:
        """Return a − b and its corrected p, in whichever direction the pair is kept."""
        if (a, b) in self.differences:
            return self.differences[a, b], self.corrected[a, b]
        kept = self.differences[b, a]
        negated = Difference(
            -kept.mean,
            -kept.high,
            -kept.low,
            kept.p,
            -kept.cohens_d,
            1 - kept.improvement,
            kept.seeds,
        )
        return negated, self.corrected[b, a]

    def distinguishable(self, a: str, b: str) -> bool:
        """Return whether two entrants differ by the corrected test."""
        return self.difference(a, b)[1] < ALPHA


def rank(
    scores: Mapping[str, np.ndarray],
    *,
    references: Sequence[str] = (),
    higher_is_better: bool = True,
) -> Ranking:
    """Compare encodings over the same seeds with each other, and with every reference.

    >>> runs = np.arange(10.0)
    >>> found = rank({"a": runs + 5.0, "b": runs + 5.1, "none": runs}, references=["none"])
    >>> [(one.name, one.group) for one in found.entrants]
    [('b', 1), ('a', 2), ('none', 0)]
    """
    sizes = {len(values) for values in scores.values()}
    if len(sizes) != 1:
        counts = ", ".join(f"{name} {len(values)}" for name, values in scores.items())
        raise ValueError(
            f"every encoding needs the same seeds, but their numbers differ: {counts}."
        )
    wrong = [
        name for name, values in scores.items() if not np.isfinite(np.asarray(values, float)).all()
    ]
    if wrong:
        raise ValueError(
            f"scores must be finite numbers to be ranked, but these are not: {', '.join(wrong)}."
        )
    sign = 1 if higher_is_better else -1
    order = sorted(scores, key=lambda name: -sign * float(np.mean(scores[name])))
    rivals = [name for name in order if name not in references]
    pairs = list(combinations(rivals, 2))
    families = [pairs, *_against(rivals, [name for name in references if name in order])]
    corrected = {pair: p for family in families for pair, p in _corrected(scores, family).items()}
    differences = {pair: compare(scores[pair[0]], scores[pair[1]]) for pair in corrected}
    group = _groups(rivals, corrected)
    entrants = []
    for name in order:
        values = np.asarray(scores[name], float)
        entrants.append(
            RankedEntrant(
                name,
                float(values.mean()),
                *interval(values),
                group.get(name, 0),
                tuple(values.tolist()),
            )
        )
    gaps = _gaps(scores, pairs)
    level = corrected_level(gaps) if pairs and len(gaps) > 1 else ALPHA
    return Ranking(entrants, differences, corrected, higher_is_better, sizes.pop(), level)


def _against(rivals: list[str], references: list[str]) -> list[list[Pair]]:
    """Pair all encodings with each reference, and all references with the first of them."""
    families = [[(name, reference) for name in rivals] for reference in references]
    return [*families, [(other, references[0]) for other in references[1:]]] if references else []


def _corrected(scores: Mapping[str, np.ndarray], pairs: list[Pair]) -> dict[Pair, float]:
    """Compute the p of every pair, corrected for all pairs of the family."""
    if not pairs:
        return {}
    return dict(zip(pairs, step_down(_gaps(scores, pairs)), strict=True))


def _gaps(scores: Mapping[str, np.ndarray], pairs: list[Pair]) -> np.ndarray:
    """Compute the differences of every pair, seed by seed: (seeds, comparisons)."""
    values = {name: np.asarray(own, float) for name, own in scores.items()}
    return np.array([values[a] - values[b] for a, b in pairs]).T


def _groups(rivals: list[str], corrected: dict[Pair, float]) -> dict[str, int]:
    """Group the best encoding with all that cannot be distinguished from it; then the rest.

    >>> _groups(["x", "y", "z"], {("x", "y"): 0.5, ("x", "z"): 0.01, ("y", "z"): 0.3})
    {'x': 1, 'y': 1, 'z': 2}
    """
    group: dict[str, int] = {}
    left = list(rivals)
    while left:
        first = left[0]
        tied = [name for name in left if name == first or corrected[first, name] >= ALPHA]
        group |= dict.fromkeys(tied, max(group.values(), default=0) + 1)
        left = [name for name in left if name not in tied]
    return group
