"""A finished study in a few plain values: who is in the best group, how surely, at what cost.

Advice is made of summaries alone, so that it needs neither a store nor torch. No number in a
summary is typed by hand.
"""

from __future__ import annotations

from typing import Any

from locant.lab.report.learning_table import count_learned
from locant.lab.report.longer_rows import length_metrics, shown_entrants
from locant.lab.report.score_table import rank_entrants
from locant.lab.report.search_audit import failed_searches, searched_once
from locant.lab.statistics.ranking import ALPHA, Ranking, rank
from locant.lab.statistics.verdict import MIN_SEEDS_FOR_CLAIM
from locant.lab.store.record import StudyRecord

DIGITS = 6  # of what is not a mean: means are rounded once, where they are printed


def summarize(record: StudyRecord) -> dict[str, Any]:
    """Return the plain values of a study: one view at the trained length, one at the longest."""
    facts = record.facts
    views = []
    ranking = rank_entrants(record)
    if ranking is not None:
        views.append(_view(record, ranking, facts.metric, None))
    lengths = length_metrics(record)
    shown = shown_entrants(record) if lengths else []
    if shown:
        longest = max(lengths)
        scores = {entrant.name: entrant.scores(lengths[longest]) for entrant in shown}
        references = [name for name in record.controls if name in scores]
        references += [name for name in record.settings.baselines if name in scores]
        far = rank(scores, references=references, higher_is_better=facts.higher_is_better)
        views.append(_view(record, far, lengths[longest], longest))
    return {
        "study": record.settings.name,
        "id": record.id,
        "title": record.settings.title,
        "unit": record.unit,
        "seeds": max((len(entrant.seeds) for entrant in record.entrants), default=0),
        "trained": facts.length,
        "higher_is_better": facts.higher_is_better,
        "doubts": _doubts(record),
        "encodings": sorted({row.encoding for row in record.settings.encodings}),
        "not_learned": _not_learned(record),
        "barred": dict(sorted(record.barred.items())),
        "views": views,
    }


def _view(record: StudyRecord, ranking: Ranking, metric: str, length: int | None) -> dict[str, Any]:
    """List the encodings with their groups, and whether each is surely ahead of none."""
    failed = failed_searches(record)
    names = [entrant.name for entrant in ranking.entrants]
    costs = {entrant.name: entrant.cost for entrant in record.entrants}
    entries = []
    for ranked in ranking.entrants:
        if not ranked.group or ranked.name in failed:
            continue
        ahead = None
        if "none" in names:
            difference, p = ranking.difference(ranked.name, "none")
            ahead = p < ALPHA and difference.mean * record.facts.sign > 0
        cost = costs[ranked.name]
        entries.append(
            {
                "name": ranked.name,
                "mean": ranked.mean,
                "half": round(ranked.half_width, DIGITS),
                "group": ranked.group,
                "ahead_of_none": ahead,
                "parameters": int(cost.get("positional_parameters", 0)),
                "ms_a_step": round(1000 * cost.get("seconds_a_step", 0.0), 1),
            }
        )
    none = [one.mean for one in ranking.entrants if one.name == "none"]
    none_mean = none[0] if none else None
    return {"metric": metric, "length": length, "none": none_mean, "entries": entries}


def _doubts(record: StudyRecord) -> list[str]:
    """Say why a study may not carry a conclusion; nothing where it may."""
    doubts = []
    seeds = max((len(entrant.seeds) for entrant in record.entrants), default=0)
    if seeds < MIN_SEEDS_FOR_CLAIM:
        doubts.append(f"{seeds} {record.unit}, and a conclusion needs {MIN_SEEDS_FOR_CLAIM}")
    if searched_once(record):
        doubts.append("one search chose the rates for all runs, and its luck is in no interval")
    if record.settings.flaws:
        doubts.append("a published protocol, followed with its flaws")
    if "--quick" in record.command or "quick=True" in record.command:
        doubts.append("a quick version")
    return doubts


def _not_learned(record: StudyRecord) -> list[str]:
    """Name the encodings of which fewer than half of the runs learned the task."""
    controls = record.controls
    found = []
    for entrant in record.entrants:
        counts = count_learned(entrant, record)
        if counts is not None and 2 * counts[0] < counts[1] and entrant.name not in controls:
            found.append(entrant.name)
    return found
