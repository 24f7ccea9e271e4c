"""The verdict in words: who is best or comes first, by how much, who cannot be told apart, and what it would take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from locant.lab.statistics.paired import equivalent, seeds_needed
from locant.lab.statistics.ranking import ALPHA, Ranking, Row

FEWEST, ENOUGH = 6, 10


def verdict(
    ranking: Ranking,
    controls: Sequence[str] = ("none", "scrambled"),
    plain: Sequence[str] = (),
    *,
    unit: str = "seeds",
    margin: float | None = None,
    distrusted: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> str:
    """Sentences that say no more than the runs allow.

    controls    rows that only show what is not positional; they are never called best
    plain       plain methods; when one is ahead of the first encoding, or level with it, that is said
    unit        what scores are paired over
    margin      a difference too small to matter: rows that surely differ by less are called equal
    distrusted  rows whose search failed: their scores are too low, so nothing is built on them
    missing     rows that are not in the ranking, because runs of theirs failed

    >>> from locant.lab.statistics.ranking import rank
    >>> verdict(rank({"rotary": np.full(4, 0.9), "none": np.full(4, 0.5)}, references=["none"]))
    'No claim is possible with 4 seeds: a paired test on fewer than 6 can never reach p < .05. Run at least 10.'
    """
    if ranking.seeds < FEWEST:
        return (
            f"No claim is possible with {ranking.seeds} {unit}: a paired test on fewer than {FEWEST} can never reach "
            f"p < .05. Run at least {ENOUGH}."
        )
    entrants = [row for row in ranking.rows if row.group]
    rivals = [row for row in entrants if row.name not in distrusted]
    if not entrants:
        return "There is nothing to compare: no encoding has all its runs."
    if not rivals:
        return f"Nothing can be said. {_left_out(distrusted, missing)}"
    first = rivals[0]
    sentences = [_against_controls(ranking, rivals, controls, margin, distrusted)]
    if not sentences[0]:
        others = rivals[1:]
        alpha = ALPHA / max(1, len(others))
        equal = [
            row
            for row in others
            if margin is not None and equivalent(_gaps(first, row), margin, alpha)
        ]
        apart = [row for row in others if row not in equal]
        open_ = [row for row in apart if not ranking.told(first.name, row.name)]
        behind = [row for row in apart if row not in open_]
        alone = len(others) == len(behind) > 0 and not distrusted and not missing
        sentences = [
            f"{first.name} {'is best' if alone else 'comes first'} ({short(first.mean)}).",
            _equal(equal, first, margin),
            _open(ranking, open_, first),
            _next(ranking, behind, first),
            _what_it_takes(ranking, open_, first, unit),
        ]
    sentences.append(_against_plain(ranking, first, plain))
    sentences.append(_left_out(distrusted, missing))
    if ranking.seeds < ENOUGH:
        sentences.append(f"With {ranking.seeds} {unit} this is a hint; a claim needs {ENOUGH}.")
    return " ".join(sentence for sentence in sentences if sentence)


def _gaps(a: Row, b: Row) -> np.ndarray:
    return np.subtract(a.scores, b.scores)


def _against_controls(
    ranking: Ranking,
    rivals: list[Row],
    controls: Sequence[str],
    margin: float | None,
    distrusted: Sequence[str],
) -> str:
    """Inconclusive when the first cannot be told from a control; no help when it is behind one, or equal to it."""
    first, order = rivals[0], [row.name for row in ranking.rows]
    for row in ranking.rows:
        if row.name not in controls:
            continue
        if row.name in distrusted:
            return f"Inconclusive: the search failed for the control {row.name}."
        apart, p = ranking.apart(row.name, first.name)
        if margin is not None and all(equivalent(_gaps(one, row), margin) for one in rivals):
            return f"No encoding helps: each of them differs from {row.name} by less than {short(margin)}."
        if not ranking.told(row.name, first.name):
            return f"Inconclusive: the first, {first.name}, cannot be told from {row.name} (p = {short(p)})."
        if order.index(row.name) < order.index(first.name):
            return (
                f"No encoding helps: the control {row.name} is better than the first of them, {first.name}, "
                f"by {short(abs(apart.mean))} ± {short(apart.half_width)}."
            )
    return ""


def _equal(rows: list[Row], first: Row, margin: float | None) -> str:
    if not rows or margin is None:
        return ""
    return f"No difference from {first.name} larger than {short(margin)}: {_joined([row.name for row in rows])}."


def _open(ranking: Ranking, rows: list[Row], first: Row) -> str:
    """Those that may be level with the first, or not."""
    if not rows:
        return ""
    least = min(ranking.apart(first.name, row.name)[1] for row in rows)
    told = [f"{row.name} ({short(row.mean)} ± {short(row.half_width)})" for row in rows]
    return f"Cannot be told from {first.name} (p {'=' if len(rows) == 1 else '≥'} {short(least)}): {_joined(told)}."


def _next(ranking: Ranking, behind: list[Row], first: Row) -> str:
    """By how much the first beats the first that is surely behind it."""
    if not behind:
        return ""
    apart, _ = ranking.apart(first.name, behind[0].name)
    more = f" and the {len(behind) - 1} behind it" if len(behind) > 1 else ""
    return f"{first.name} beats {behind[0].name} by {short(abs(apart.mean))} ± {short(apart.half_width)}{more}."


def _what_it_takes(ranking: Ranking, rows: list[Row], first: Row, unit: str) -> str:
    """How many would tell the first from the next that is open, by the corrected test."""
    if not rows:
        return ""
    gaps = _gaps(first, rows[0])
    if not gaps.any():
        return f"{first.name} and {rows[0].name} gave the same score in every run."
    needed = seeds_needed(float(gaps.mean()), float(gaps.std(ddof=1)), alpha=ranking.level)
    if needed is not None and needed <= ranking.seeds:
        return ""  # by its size it should have been seen: the scores are not spread evenly
    many = "More than 1,000" if needed is None else f"About {needed:,}"
    return f"{many} {unit} would be needed to tell {first.name} from {rows[0].name}, corrected for all pairs."


def _against_plain(ranking: Ranking, first: Row, plain: Sequence[str]) -> str:
    """The plain methods that are ahead of the first encoding, or level with it, in one sentence."""
    order = [row.name for row in ranking.rows]
    ahead, level = [], []
    for row in ranking.rows:
        if row.name not in plain:
            continue
        apart, _ = ranking.apart(row.name, first.name)
        if not ranking.told(row.name, first.name):
            level.append(row.name)
        elif order.index(row.name) < order.index(first.name):
            ahead.append(f"{row.name} (by {short(abs(apart.mean))} ± {short(apart.half_width)})")
    parts = [f"ahead of every encoding: {_joined(ahead)}"] if ahead else []
    parts += [f"not to be told from {first.name}: {_joined(level)}"] if level else []
    return f"Plain methods {'; '.join(parts)}." if parts else ""


def _left_out(distrusted: Sequence[str], missing: Sequence[str]) -> str:
    """The rows of which nothing is said, and why."""
    parts = []
    if distrusted:
        why = (
            "a fixed point of the grid beats its score"
            if len(distrusted) == 1
            else "fixed points beat their scores"
        )
        parts.append(
            f"The search failed for {_joined(list(distrusted))}: {why}, and nothing is built on that."
        )
    if missing:
        parts.append(f"Left out, because runs failed: {_joined(list(missing))}.")
    return " ".join(parts)


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
    text = (
        f"{number:.2f}"
        if abs(number) >= 0.095
        else f"{number:.3f}"
        if abs(number) >= 0.0095
        else f"{number:.1g}"
    )
    if "e" in text:
        return text
    return text.replace("0.", ".", 1)
