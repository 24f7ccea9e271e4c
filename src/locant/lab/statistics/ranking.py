"""Who is first, and who cannot be told apart: families of comparisons named beforehand, each corrected in itself.

One family holds every encoding against every other. Each reference (a control such as none, a plain method) has a
family of its own: all encodings against it. So a dozen plain methods cost the encodings no power.
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
class Row:
    """One row: its mean with an interval, and the group of encodings it belongs to, 1 for the first (0: a reference)."""

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
    """Rows from best to worst, and the differences that were compared, with their corrected p."""

    rows: list[Row]
    differences: dict[Pair, Difference]
    corrected: dict[Pair, float]
    higher_is_better: bool
    seeds: int
    level: float  # of one paired test as hard to pass as one among all pairs of encodings

    def apart(self, a: str, b: str) -> tuple[Difference, float]:
        """a − b and its corrected p, whichever way the pair is kept."""
        if (a, b) in self.differences:
            return self.differences[a, b], self.corrected[a, b]
        kept = self.differences[b, a]
        turned = Difference(
            -kept.mean,
            -kept.high,
            -kept.low,
            kept.p,
            -kept.cohens_d,
            1 - kept.improvement,
            kept.seeds,
        )
        return turned, self.corrected[b, a]

    def told(self, a: str, b: str) -> bool:
        """Whether two rows can be told apart."""
        return self.apart(a, b)[1] < ALPHA


def rank(
    scores: Mapping[str, np.ndarray],
    *,
    references: Sequence[str] = (),
    higher_is_better: bool = True,
) -> Ranking:
    """Compare encodings over the same seeds with each other, and with every reference.

    >>> found = rank({"a": np.arange(10) + 5.0, "b": np.arange(10) + 5.1, "none": np.arange(10) + 0.0}, references=["none"])
    >>> [(row.name, row.group) for row in found.rows]
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
    rows = []
    for name in order:
        values = np.asarray(scores[name], float)
        rows.append(
            Row(
                name,
                float(values.mean()),
                *interval(values),
                group.get(name, 0),
                tuple(values.tolist()),
            )
        )
    level = (
        corrected_level(_gaps(scores, pairs)) if pairs and len(_gaps(scores, pairs)) > 1 else ALPHA
    )
    return Ranking(rows, differences, corrected, higher_is_better, sizes.pop(), level)


def _against(rivals: list[str], references: list[str]) -> list[list[Pair]]:
    """A family for each reference, all encodings against it; and one of all references against the first of them."""
    families = [[(name, reference) for name in rivals] for reference in references]
    return [*families, [(other, references[0]) for other in references[1:]]] if references else []


def _corrected(scores: Mapping[str, np.ndarray], pairs: list[Pair]) -> dict[Pair, float]:
    return dict(zip(pairs, step_down(_gaps(scores, pairs)), strict=True)) if pairs else {}


def _gaps(scores: Mapping[str, np.ndarray], pairs: list[Pair]) -> np.ndarray:
    """(seeds, comparisons)."""
    return np.array(
        [np.asarray(scores[a], float) - np.asarray(scores[b], float) for a, b in pairs]
    ).T


def _groups(rivals: list[str], corrected: dict[Pair, float]) -> dict[str, int]:
    """The best encoding and all that cannot be told from it; then the best of the rest and all of these likewise.

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
