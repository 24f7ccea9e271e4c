"""Who is best, and who cannot be told apart: every pair compared, corrected, and put into tie groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase

import numpy as np

from locant.statistics.paired import Difference, compare, interval, step_down

ALPHA = 0.05


@dataclass(frozen=True)
class Row:
    """One encoding's place: its mean with an interval, and the letters of the tie groups it belongs to."""

    name: str
    mean: float
    low: float
    high: float
    letters: str
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Ranking:
    """Rows from best to worst, and every pair's difference with its corrected p."""

    rows: list[Row]
    differences: dict[tuple[str, str], Difference]
    corrected: dict[tuple[str, str], float]
    higher_is_better: bool
    seeds: int

    def apart(self, a: str, b: str) -> tuple[Difference, float]:
        """a − b and its corrected p, whichever way the pair is kept."""
        if (a, b) in self.differences:
            return self.differences[a, b], self.corrected[a, b]
        kept = self.differences[b, a]
        turned = Difference(-kept.mean, -kept.high, -kept.low, kept.p, -kept.cohens_d, 1 - kept.improvement, kept.seeds)
        return turned, self.corrected[b, a]


def rank(scores: Mapping[str, np.ndarray], *, higher_is_better: bool = True, alpha: float = ALPHA) -> Ranking:
    """Compare encodings over the same seeds.

    >>> place = rank({"a": np.arange(10) + 5.0, "b": np.arange(10) + 5.1, "c": np.arange(10) + 0.0})
    >>> [(row.name, row.letters) for row in place.rows]
    [('b', 'a'), ('a', 'b'), ('c', 'c')]
    """
    sizes = {len(values) for values in scores.values()}
    if len(sizes) != 1:
        counts = ", ".join(f"{name} {len(values)}" for name, values in scores.items())
        raise ValueError(f"every encoding needs the same seeds, but their numbers differ: {counts}.")
    wrong = [name for name, values in scores.items() if not np.isfinite(np.asarray(values, float)).all()]
    if wrong:
        raise ValueError(f"scores must be finite numbers to be ranked, but these are not: {', '.join(wrong)}.")
    sign = 1 if higher_is_better else -1
    order = sorted(scores, key=lambda name: -sign * float(np.mean(scores[name])))
    pairs = list(combinations(order, 2))
    differences = {pair: compare(scores[pair[0]], scores[pair[1]]) for pair in pairs}
    gaps = np.array([np.asarray(scores[a], float) - np.asarray(scores[b], float) for a, b in pairs])
    adjusted = dict(zip(pairs, step_down(gaps.T), strict=True)) if pairs else {}
    letters = tie_letters(order, {pair for pair in pairs if adjusted[pair] >= alpha})
    rows = []
    for name in order:
        values = np.asarray(scores[name], float)
        low, high = interval(values)
        rows.append(Row(name, float(values.mean()), low, high, letters[name], tuple(values.tolist())))
    return Ranking(rows, differences, adjusted, higher_is_better, sizes.pop())


def tie_letters(order: list[str], tied: set[tuple[str, str]]) -> dict[str, str]:
    """A compact letter display: two that share a letter cannot be told apart; each largest group of ties has a letter.

    >>> tie_letters(["x", "y", "z"], {("x", "y"), ("y", "z")})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    near = {name: {b for a, b in tied if a == name} | {a for a, b in tied if b == name} for name in order}
    groups = sorted(_cliques(near), key=lambda group: sorted(order.index(name) for name in group))
    marks = [ascii_lowercase[i] if i < 26 else f"[{i + 1}]" for i in range(len(groups))]
    return {name: "".join(mark for mark, group in zip(marks, groups, strict=True) if name in group) for name in order}


def _cliques(near: dict[str, set[str]]) -> list[frozenset[str]]:
    """The largest groups in which all are tied with all (Bron and Kerbosch 1973)."""
    found: list[frozenset[str]] = []

    def grow(chosen: set[str], open_: set[str], done: set[str]) -> None:
        if not open_ and not done:
            found.append(frozenset(chosen))
            return
        pivot = max(open_ | done, key=lambda name: len(near[name] & open_))
        for name in sorted(open_ - near[pivot]):
            grow(chosen | {name}, open_ & near[name], done & near[name])
            open_ = open_ - {name}
            done = done | {name}

    grow(set(), set(near), set())
    return found
