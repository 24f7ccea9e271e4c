"""What a study concludes: the verdict, which encoding to take for a user's own data, and what the
controls show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from locant._internal.text import counted, number_text, plus_minus
from locant.lab.report.score_table import honest_baselines, rank_entrants, ranked_encodings
from locant.lab.report.search_audit import failed_searches, searched_once
from locant.lab.report.snippet import snippet
from locant.lab.statistics.paired import compare, detectable, interval, seeds_needed
from locant.lab.statistics.ranking import RankedEntrant, Ranking
from locant.lab.statistics.verdict import MIN_SEEDS, MIN_SEEDS_FOR_CLAIM, verdict
from locant.lab.store.record import StudyRecord

ALARM_LEVEL = 0.999  # the interval that must lie above a ceiling before a leak is reported
ONE_IN = 40  # one control in so many has a 95 % interval above its true value


def conclusion(record: StudyRecord) -> str:
    """Write the verdict, and what differences the runs could have seen."""
    ranking = rank_entrants(record)
    if ranking is None:
        return "No entrant finished all its runs: no conclusion is possible."
    methods = [one for one in ranking.entrants if one.name not in record.facts.oracles]
    ranking = replace(ranking, entrants=methods)
    text = verdict(
        ranking,
        record.controls,
        honest_baselines(record),
        unit=record.unit,
        margin=record.settings.margin,
        distrusted=failed_searches(record),
        missing=[entrant.name for entrant in record.entrants if entrant.failures],
    )
    if searched_once(record):
        text = (
            f"Not reliable: one search chose for all {record.unit}, and no interval contains the "
            f"luck of that search. {text}"
        )
    encodings = ranked_encodings(ranking)
    if ranking.seeds < MIN_SEEDS or len(encodings) < 2:
        return text
    deviations = [
        np.std(np.subtract(a.scores, b.scores), ddof=1) for a, b in combinations(encodings, 2)
    ]
    spread = float(np.median(deviations))
    if ranking.seeds >= MIN_SEEDS_FOR_CLAIM and spread > 0:
        seen = detectable(spread, ranking.seeds, alpha=ranking.level)
        text += (
            f" For the median pair of encodings, {ranking.seeds} {record.unit} would rarely show a "
            f"difference below {seen:.2g}, corrected for all pairs."
        )
    return text + _needed_sentence(record, ranking.level, spread)


def _needed_sentence(record: StudyRecord, level: float, spread: float) -> str:
    """Say how many runs would show the difference that matters, where the study names one."""
    matters = record.settings.matters
    if matters is None:
        return ""
    needed = seeds_needed(matters, spread, alpha=level)
    many = "more than 1,000" if needed is None else f"{needed:,}"
    return (
        f" To show a difference of {matters:g} between two encodings, corrected for all pairs, "
        f"would take about {many} {record.unit}."
    )


class Recommendation(NamedTuple):
    """Sentences on what to take, why and at what cost; and lines of Python that build it."""

    lines: list[str]
    code: Sequence[str] = ()


def recommend(record: StudyRecord) -> Recommendation:
    """Recommend one of the compared encodings; nothing unless the study is meant to recommend."""
    if not record.settings.recommends:
        return Recommendation([])
    ranking = rank_entrants(record)
    failed = failed_searches(record)
    encodings = []
    if ranking is not None:
        encodings = [one for one in ranked_encodings(ranking) if one.name not in failed]
    if ranking is None or not encodings:
        return Recommendation(["No encoding finished all its runs: nothing can be recommended."])
    if ranking.seeds < MIN_SEEDS:
        verb = "is" if ranking.seeds == 1 else "are"
        few = f"{counted(ranking.seeds, 'seeds')} {verb} too few to recommend an encoding."
        return Recommendation([f"{few} Run at least {MIN_SEEDS_FOR_CLAIM}."])
    best = encodings[0]
    untrained = _unbeaten_baselines(record, ranking, best)
    control = _unbeaten_control(ranking, best)
    if control:
        why = f"Take none: the best encoding, {best.name}, is not surely better than {control}."
        return Recommendation([why, *untrained], snippet(record, "none"))
    why = _reason(ranking, encodings)
    if ranking.seeds < MIN_SEEDS_FOR_CLAIM:
        why += f" {ranking.seeds} seeds make this a hint; a conclusion needs {MIN_SEEDS_FOR_CLAIM}."
    lines = [why, _cost_sentence(record, ranking, best.name), *untrained]
    return Recommendation(lines, snippet(record, best.name))


def _reason(ranking: Ranking, encodings: list[RankedEntrant]) -> str:
    best, score = encodings[0].name, number_text(encodings[0].mean)
    if len(encodings) == 1:
        return f"Take {best}: no other encoding could be judged ({score})."
    tied = [one.name for one in encodings[1:] if not ranking.distinguishable(best, one.name)]
    if not tied:
        return f"Take {best}: it is ahead of all other encodings ({score})."
    names = ", ".join(tied)
    return f"Take {best}: it comes first ({score}), but cannot be distinguished from {names}."


def _unbeaten_control(ranking: Ranking, best: RankedEntrant) -> str:
    """Name the control that is ahead of the best encoding, or not distinguishable from it."""
    for entrant in ranking.entrants:
        if entrant.name not in ("none", "scrambled"):
            continue
        ahead = ranking.entrants.index(entrant) < ranking.entrants.index(best)
        if ahead or not ranking.distinguishable(entrant.name, best.name):
            return entrant.name
    return ""


def _unbeaten_baselines(record: StudyRecord, ranking: Ranking, best: RankedEntrant) -> list[str]:
    """Name the baselines that no encoding beats."""
    ahead = ranking.entrants[: ranking.entrants.index(best)]
    baselines = honest_baselines(record)
    names = []
    for one in ranking.entrants:
        if one.name not in baselines:
            continue
        if one in ahead or not ranking.distinguishable(one.name, best.name):
            names.append(one.name)
    if not names:
        return []
    return [
        "No encoding is surely better than these baselines, which need no training: "
        f"{', '.join(names)}."
    ]


def _cost_sentence(record: StudyRecord, ranking: Ranking, name: str) -> str:
    costs = {entrant.name: entrant.cost for entrant in record.entrants}
    own = costs[name]
    text = f"It adds {own['positional_parameters']:,.0f} learned parameters"
    if "none" not in record.complete:
        return f"{text}."
    gap, _ = ranking.difference(name, "none")
    slower = own["seconds_a_step"] / costs["none"]["seconds_a_step"]
    change = plus_minus(gap.mean, gap.half_width)
    return (
        f"{text}; a step takes {slower:.2f} times as long as with none; it changes "
        f"{record.facts.metric} by {change}."
    )


def control_notes(record: StudyRecord) -> list[str]:
    """Say whether controls respect their ceiling, and whether destroyed order equals none."""
    scores = record.complete
    ceiling = record.facts.ceilings.get("without positions")
    sentences = []
    for name in record.controls:
        known = name in scores and len(scores[name]) > 1 and name != "no attention"
        if known and ceiling is not None:
            sentences.append(_against_ceiling(name, scores[name], ceiling))
    if "none" in scores and "scrambled" in scores and len(scores["none"]) > 1:
        sentences.append(_scrambled(record))
    return sentences


def _scrambled(record: StudyRecord) -> str:
    """Compare the sinusoid whose order is destroyed with none, and with the sinusoid itself."""
    scores = record.complete
    only_here = "This says nothing about other encodings."
    text = (
        "The sinusoid with its order destroyed: scrambled minus none is "
        f"{_gap(scores['scrambled'], scores['none'])}"
    )
    if "sinusoidal" not in scores:
        return f"{text}. {only_here}"
    text += f", sinusoidal minus scrambled {_gap(scores['sinusoidal'], scores['scrambled'])}"
    seeds = len(scores["none"])
    if seeds < MIN_SEEDS:
        few = f"{counted(seeds, record.unit)} {'is' if seeds == 1 else 'are'} too few to say"
        return f"{text}; {few} whether its gain comes from positions."
    gains = record.facts.sign * (scores["sinusoidal"] - scores["scrambled"])
    low, high = interval(gains)
    if low > 0:
        return f"{text}: its order is surely a gain. {only_here}"
    if high < 0:
        return f"{text}: its order makes it worse. {only_here}"
    return f"{text}: nothing shows that its order helps. {only_here}"


def _gap(a: np.ndarray, b: np.ndarray) -> str:
    """Write the mean of a − b with its sign, and half its interval.

    >>> _gap(np.array([0.5, 0.6, 0.7]), np.array([0.6, 0.6, 0.8]))
    '-.067 ± .14'
    """
    apart = compare(a, b)
    sign = "+" if apart.mean > 0 else ""
    return sign + plus_minus(apart.mean, apart.half_width)


def _against_ceiling(name: str, scores: np.ndarray, ceiling: float) -> str:
    """Hold a control against its exact ceiling.

    A 95 % interval lies above its ceiling by chance once in forty controls, and people read many
    studies; so only a 99.9 % interval above the ceiling is called a leak.
    """
    low, high = interval(scores)
    where = f"{name} lies at {low:.3f} to {high:.3f}"
    if low <= ceiling:
        return f"{where}; without positions at most {number_text(ceiling)} is possible."
    above = f"{where}, above the ceiling of {ceiling:.3f}"
    if interval(scores, ALARM_LEVEL)[0] <= ceiling:
        return (
            f"{above}, but so little that this happens by chance once in {ONE_IN} controls (its "
            f"{ALARM_LEVEL:.1%} interval reaches the ceiling); more seeds would decide it."
        )
    return f"{above}: information leaks. Do not trust this table."
