"""Put a ranking into sentences that say no more than the runs allow.

Which encoding is best or comes first, by how much, which ones cannot be distinguished from it, and
how many seeds it would take.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from locant._internal.text import counted, join_words, number_text, plus_minus
from locant.lab.statistics.paired import equivalent, seeds_needed
from locant.lab.statistics.ranking import ALPHA, RankedEntrant, Ranking

MIN_SEEDS = 6  # a paired test on fewer can never reach p < .05
MIN_SEEDS_FOR_CLAIM = 10  # fewer give a hint, not a conclusion


def verdict(
    ranking: Ranking,
    controls: Sequence[str] = ("none", "scrambled"),
    baselines: Sequence[str] = (),
    *,
    unit: str = "seeds",
    margin: float | None = None,
    distrusted: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> str:
    """Write the verdict on a ranking.

    controls    entrants that only show what is not positional; they are never called best
    baselines   methods without a model; one that is ahead of the leading encoding, or cannot be
                distinguished from it, is named
    unit        what scores are paired over
    margin      a difference too small to matter: encodings within it are called equal
    distrusted  entrants whose search failed: their scores are too low to conclude anything from
    missing     entrants that are not in the ranking, because some of their runs failed

    >>> from locant.lab.statistics.ranking import rank
    >>> verdict(rank({"rotary": np.full(4, 0.9), "none": np.full(4, 0.5)}, references=["none"]))
    'No conclusion is possible with 4 seeds: a paired test on fewer than 6 cannot reach p < .05.
    Run at least 10.'
    """
    if ranking.seeds < MIN_SEEDS:
        return (
            f"No conclusion is possible with {counted(ranking.seeds, unit)}: a paired test on "
            f"fewer than {MIN_SEEDS} cannot reach p < .05. Run at least {MIN_SEEDS_FOR_CLAIM}."
        )
    encodings = [entrant for entrant in ranking.entrants if entrant.group]
    rivals = [entrant for entrant in encodings if entrant.name not in distrusted]
    if not encodings:
        return "There is nothing to compare: no encoding finished all its runs."
    if not rivals:
        return f"No conclusion is possible. {_left_out(distrusted, missing)}"
    first = rivals[0]
    against_controls = _against_controls(ranking, rivals, controls, margin, distrusted)
    if against_controls:
        sentences = [against_controls]
    else:
        complete = not distrusted and not missing
        sentences = _among_encodings(ranking, rivals, margin, unit, complete=complete)
    sentences.append(_against_baselines(ranking, first, baselines))
    sentences.append(_left_out(distrusted, missing))
    if ranking.seeds < MIN_SEEDS_FOR_CLAIM:
        seeds = counted(ranking.seeds, unit)
        sentences.append(f"With {seeds} this is a hint; a conclusion needs {MIN_SEEDS_FOR_CLAIM}.")
    return " ".join(sentence for sentence in sentences if sentence)


def _among_encodings(
    ranking: Ranking,
    rivals: list[RankedEntrant],
    margin: float | None,
    unit: str,
    *,
    complete: bool,
) -> list[str]:
    """Compare the leading encoding with every other; it is best when all others are behind it."""
    first, others = rivals[0], rivals[1:]
    if complete and not others:
        return [f"{first.name} is the only encoding compared ({number_text(first.mean)})."]
    equal = []
    if margin is not None:
        alpha = ALPHA / max(1, len(others))
        equal = [one for one in others if equivalent(_gaps(first, one), margin, alpha)]
    apart = [one for one in others if one not in equal]
    tied = [one for one in apart if not ranking.distinguishable(first.name, one.name)]
    behind = [one for one in apart if one not in tied]
    best = complete and len(others) == len(behind) > 0
    return [
        f"{first.name} {'is best' if best else 'comes first'} ({number_text(first.mean)}).",
        _equal_sentence(equal, first, margin),
        _tied_sentence(ranking, tied, first),
        _behind_sentence(ranking, behind, first),
        _seeds_sentence(ranking, tied, first, unit),
    ]


def _gaps(a: RankedEntrant, b: RankedEntrant) -> np.ndarray:
    return np.subtract(a.scores, b.scores)


def _against_controls(
    ranking: Ranking,
    rivals: list[RankedEntrant],
    controls: Sequence[str],
    margin: float | None,
    distrusted: Sequence[str],
) -> str:
    """Say that no encoding is better than a control, or that this stays open; else nothing."""
    first = rivals[0]
    order = [entrant.name for entrant in ranking.entrants]
    for control in ranking.entrants:
        if control.name not in controls:
            continue
        if control.name in distrusted:
            return f"Inconclusive: the search failed for the control {control.name}."
        apart, p = ranking.difference(control.name, first.name)
        if margin is not None and all(equivalent(_gaps(one, control), margin) for one in rivals):
            return (
                f"No encoding helps: each of them differs from {control.name} "
                f"by less than {number_text(margin)}."
            )
        if not ranking.distinguishable(control.name, first.name):
            return (
                f"Inconclusive: the leading encoding, {first.name}, cannot be distinguished "
                f"from {control.name} (p = {number_text(p)})."
            )
        if order.index(control.name) < order.index(first.name):
            return (
                f"No encoding helps: the control {control.name} is better than the leading "
                f"encoding, {first.name}, by {plus_minus(abs(apart.mean), apart.half_width)}."
            )
    return ""


def _equal_sentence(equal: list[RankedEntrant], first: RankedEntrant, margin: float | None) -> str:
    """Name the encodings that differ from the leading one by less than the margin."""
    if not equal or margin is None:
        return ""
    names = join_words(one.name for one in equal)
    return f"No difference from {first.name} larger than {number_text(margin)}: {names}."


def _tied_sentence(ranking: Ranking, tied: list[RankedEntrant], first: RankedEntrant) -> str:
    """Name the encodings that may be level with the leading one, or behind it."""
    if not tied:
        return ""
    least = min(ranking.difference(first.name, one.name)[1] for one in tied)
    p = f"p {'=' if len(tied) == 1 else '≥'} {number_text(least)}"
    named = join_words(f"{one.name} ({plus_minus(one.mean, one.half_width)})" for one in tied)
    return f"Cannot be distinguished from {first.name} ({p}): {named}."


def _behind_sentence(ranking: Ranking, behind: list[RankedEntrant], first: RankedEntrant) -> str:
    """Say by how much the leading encoding beats the next one that is behind it."""
    if not behind:
        return ""
    second, further = behind[0], len(behind) - 1
    apart, _ = ranking.difference(first.name, second.name)
    lead = f"{first.name} beats {second.name} by {plus_minus(abs(apart.mean), apart.half_width)}"
    if not further:
        return f"{lead}."
    encodings = "encoding" if further == 1 else "encodings"
    return f"{lead}, and {further} more {encodings} ranked below {second.name}."


def _seeds_sentence(
    ranking: Ranking, tied: list[RankedEntrant], first: RankedEntrant, unit: str
) -> str:
    """Say how many seeds would distinguish the leading encoding from the next tied one."""
    if not tied:
        return ""
    second = tied[0]
    gaps = _gaps(first, second)
    if not gaps.any():
        return f"{first.name} and {second.name} gave the same score in every run."
    needed = seeds_needed(float(gaps.mean()), float(gaps.std(ddof=1)), alpha=ranking.level)
    if needed is not None and needed <= ranking.seeds:
        return ""  # by its size it should have been seen: the scores are not spread evenly
    many = "More than 1,000" if needed is None else f"About {needed:,}"
    return (
        f"{many} {unit} would be needed to distinguish {first.name} from {second.name}, "
        "corrected for all pairs."
    )


def _against_baselines(ranking: Ranking, first: RankedEntrant, baselines: Sequence[str]) -> str:
    """Name the baselines that are ahead of the leading encoding, or level with it."""
    order = [entrant.name for entrant in ranking.entrants]
    ahead, level = [], []
    for one in ranking.entrants:
        if one.name not in baselines:
            continue
        apart, _ = ranking.difference(one.name, first.name)
        if not ranking.distinguishable(one.name, first.name):
            level.append(one.name)
        elif order.index(one.name) < order.index(first.name):
            ahead.append(f"{one.name} (by {plus_minus(abs(apart.mean), apart.half_width)})")
    parts = []
    if ahead:
        parts.append(f"ahead of every encoding: {join_words(ahead)}")
    if level:
        parts.append(f"that cannot be distinguished from {first.name}: {join_words(level)}")
    return f"Baselines {'; '.join(parts)}." if parts else ""


def _left_out(distrusted: Sequence[str], missing: Sequence[str]) -> str:
    """Name the entrants that no conclusion uses, and say why."""
    sentences = []
    if len(distrusted) == 1:
        sentences.append(
            f"The search failed for {distrusted[0]}: a fixed grid point beats its score, "
            "so no conclusion uses it."
        )
    elif distrusted:
        sentences.append(
            f"The search failed for {join_words(distrusted)}: fixed grid points beat their "
            "scores, so no conclusion uses them."
        )
    if missing:
        sentences.append(f"Left out, because runs failed: {join_words(missing)}.")
    return " ".join(sentences)
