"""The verdict in words: who is best, by how much, who cannot be told apart, and what it would take."""

from __future__ import annotations

from itertools import combinations, takewhile

import numpy as np

from locant.statistics.paired import seeds_needed
from locant.statistics.ranking import Ranking, Row

FEWEST, ENOUGH = 6, 10


def verdict(
    ranking: Ranking,
    controls: tuple[str, ...] = ("none", "scrambled"),
    baselines: tuple[str, ...] = (),
    unit: str = "seeds",
) -> str:
    """Sentences that say no more than the runs allow.

    controls   rows that only show what is not positional; they are never called best
    baselines  plain methods; when one is as good as the best encoding, that is said
    unit       what scores are paired over

    >>> from locant.statistics.ranking import rank
    >>> verdict(rank({"rotary": np.full(4, 0.9), "none": np.full(4, 0.5)}))
    'No claim is possible with 4 seeds: a paired test on fewer than 6 can never reach p < .05. Run at least 10.'
    """
    if ranking.seeds < FEWEST:
        return (
            f"No claim is possible with {ranking.seeds} {unit}: a paired test on fewer than {FEWEST} can never reach "
            f"p < .05. Run at least {ENOUGH}."
        )
    rivals = [row for row in ranking.rows if row.name not in (*controls, *baselines)]
    if not rivals:
        return "There is nothing to compare: no encoding has all its runs."
    tied = [row for row in rivals if _tied(row, rivals[0])]
    best = list(takewhile(lambda row: row in tied and _overlap(row, rivals[0]), rivals))
    sentences = [_against_controls(ranking, best[0], controls)]
    if not sentences[0]:
        unsteady = _unsteady([row for row in tied if row not in best], best, unit)
        behind = [row for row in rivals if row not in tied]
        sentences = [_best(ranking, best), unsteady, _next(ranking, behind, best), _what_it_takes(ranking, best, unit)]
    sentences.append(_against_baselines(ranking, best[0], baselines))
    if ranking.seeds < ENOUGH:
        sentences.append(f"With {ranking.seeds} {unit} this is a hint; a claim needs {ENOUGH}.")
    return " ".join(sentence for sentence in sentences if sentence)


def _tied(a: Row, b: Row) -> bool:
    return bool(set(a.letters) & set(b.letters))


def _overlap(a: Row, b: Row) -> bool:
    """Whether two intervals have a value in common; a row far from the first may be tied with it by its spread alone."""
    return a.low <= b.high and b.low <= a.high


def _against_controls(ranking: Ranking, best: Row, controls: tuple[str, ...]) -> str:
    """Inconclusive when the best cannot be told from a control; no help when it is behind one."""
    for row in ranking.rows:
        if row.name not in controls:
            continue
        apart, p = ranking.apart(row.name, best.name)
        if _tied(row, best):
            return f"Inconclusive: the best, {best.name}, cannot be told from {row.name} (p = {short(p)})."
        if ranking.rows.index(row) < ranking.rows.index(best):
            return (
                f"No encoding helps: the control {row.name} is better than the best of them, {best.name}, "
                f"by {short(abs(apart.mean))} ± {short(apart.half_width)}."
            )
    return ""


def _against_baselines(ranking: Ranking, best: Row, baselines: tuple[str, ...]) -> str:
    """The plain methods that are ahead of the best encoding, or level with it."""
    sentences = []
    for row in ranking.rows:
        if row.name not in baselines:
            continue
        apart, p = ranking.apart(row.name, best.name)
        if _tied(row, best):
            sentences.append(f"The plain method {row.name} cannot be told from {best.name} (p = {short(p)}).")
        elif ranking.rows.index(row) < ranking.rows.index(best):
            gap = f"{short(abs(apart.mean))} ± {short(apart.half_width)}"
            sentences.append(f"The plain method {row.name} is better than every encoding, by at least {gap}.")
    return " ".join(sentences)


def _best(ranking: Ranking, best: list[Row]) -> str:
    """The first, and all that cannot be told from it; they are one group only when no two of them can be told apart."""
    first, *others = best
    if not others:
        return f"{first.name} is best ({short(first.mean)})."
    if all(_tied(a, b) for a, b in combinations(best, 2)):
        ps = [ranking.apart(a.name, b.name)[1] for a, b in combinations(best, 2)]
        least = f"p = {short(ps[0])}" if len(ps) == 1 else f"p ≥ {short(min(ps))}"
        return f"{_listed(best)} are best and cannot be told apart ({least})."
    ps = [ranking.apart(first.name, other.name)[1] for other in others]
    return (
        f"{first.name} comes first ({short(first.mean)}) and cannot be told from {_listed(others)} "
        f"(p ≥ {short(min(ps))}), though some of these can be told from each other."
    )


def _unsteady(rows: list[Row], best: list[Row], unit: str) -> str:
    """Those that are tied with the first by their spread alone: far from it, or behind one that is surely behind."""
    if not rows:
        return ""
    told = [f"{row.name} ({short(row.mean)} ± {short((row.high - row.low) / 2)})" for row in rows]
    whose = "its" if len(rows) == 1 else "their"
    return f"{_joined(told)} cannot be told from {best[0].name}, because {whose} {unit} differ too much."


def _next(ranking: Ranking, behind: list[Row], best: list[Row]) -> str:
    """By how much the best beat the first that is surely behind all of them; or the first behind the very best."""
    clear = [row for row in behind if not any(_tied(row, leader) for leader in best)]
    if clear:
        gaps = [ranking.apart(leader.name, clear[0].name)[0] for leader in best]
        least = min(gaps, key=lambda gap: abs(gap.mean))
        who, how = {1: ("It beats", "by"), 2: ("Both beat", "by at least")}.get(
            len(best), ("All of them beat", "by at least")
        )
        return f"{who} {clear[0].name} {how} {short(abs(least.mean))} ± {short(least.half_width)}."
    if behind:
        apart, _ = ranking.apart(best[0].name, behind[0].name)
        gap = f"{short(abs(apart.mean))} ± {short(apart.half_width)}"
        return f"Of these only some are surely ahead of {behind[0].name}: {best[0].name} beats it by {gap}."
    return ""


def _what_it_takes(ranking: Ranking, best: list[Row], unit: str) -> str:
    if len(best) == 1:
        return ""
    first, second = best[0], best[1]
    gaps = np.array(first.scores) - np.array(second.scores)
    if not gaps.any():
        return f"{first.name} and {second.name} gave the same score in every run."
    needed = seeds_needed(float(gaps.mean()), float(gaps.std(ddof=1)))
    if needed is None:
        return f"More than 1,000 {unit} would be needed to tell {first.name} from {second.name}."
    if needed <= ranking.seeds:
        return f"{first.name} and {second.name} differ on their own, but not after correction for all comparisons."
    return f"{needed} {unit} would be needed to tell {first.name} from {second.name}."


def _listed(rows: list[Row]) -> str:
    return _joined([row.name for row in rows])


def _joined(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def short(number: float) -> str:
    """Two or three digits, without the leading zero of a share.

    >>> short(0.0412), short(0.41), short(12.34), short(1.0), short(0.0004)
    ('.041', '.41', '12.3', '1.00', '.0004')
    """
    if abs(number) >= 10:
        return f"{number:.1f}"
    if abs(number) >= 1:
        return f"{number:.2f}"
    text = f"{number:.2f}" if abs(number) >= 0.095 else f"{number:.3f}" if abs(number) >= 0.0095 else f"{number:.1g}"
    if "e" in text:
        return text
    return text.replace("0.", ".", 1)
