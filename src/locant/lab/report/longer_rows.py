"""Beyond the trained length: every entrant's score on longer rows, behind a gate.

An entrant whose runs have not learned rows of the trained length says nothing about longer ones:
its scores there are not shown. Where a study has no threshold (bits a byte), all are shown.
"""

from __future__ import annotations

import re

from locant._internal.text import counted, number_text
from locant.lab.report.learning_table import count_learned
from locant.lab.report.rendering import Table, best_first, mean_text
from locant.lab.statistics.ranking import Ranking, rank
from locant.lab.statistics.verdict import MIN_SEEDS
from locant.lab.store.record import EntrantRecord, StudyRecord

NOT_SHOWN = "–"


def length_metrics(record: StudyRecord) -> dict[int, str]:
    """Return the deciding metric at every longer length that runs measured: length → its name."""
    pattern = re.compile(rf"{re.escape(record.facts.metric)} at (\d+)")
    found = {}
    for entrant in record.entrants:
        for name in entrant.metrics:
            match = pattern.fullmatch(name)
            if match:
                found[int(match[1])] = name
    return dict(sorted(found.items()))


def learned_length(entrant: EntrantRecord, record: StudyRecord) -> bool:
    """Say whether at least half of an entrant's runs learned rows of the trained length; True where
    validation does not measure that."""
    counts = count_learned(entrant, record)
    return counts is None or 2 * counts[0] >= counts[1]


def shown_entrants(record: StudyRecord) -> list[EntrantRecord]:
    """List the complete entrants with scores on longer rows that pass the gate, best first."""
    metrics = length_metrics(record).values()
    shown = []
    for entrant in best_first(record):
        measured = all(len(entrant.scores(metric)) for metric in metrics)
        if measured and not entrant.failures and learned_length(entrant, record):
            shown.append(entrant)
    return shown


def beyond_table(record: StudyRecord) -> Table | None:
    """Show every entrant's mean at every length, and its group at the longer ones."""
    metrics = length_metrics(record)
    if not metrics:
        return None
    shown = shown_entrants(record)
    rankings = {length: _ranking(record, shown, name) for length, name in metrics.items()}
    lines = []
    for entrant in best_first(record):
        if not all(len(entrant.scores(name)) for name in metrics.values()):
            continue
        line = [entrant.name, mean_text(entrant.scores(record.facts.metric))]
        for length, name in metrics.items():
            line.append(_cell(entrant, name, rankings[length]) if entrant in shown else NOT_SHOWN)
        lines.append(line)
    trained = "" if record.facts.length is None else f" at {record.facts.length}, trained"
    return ["", f"{record.facts.metric}{trained}", *metrics.values()], lines


def beyond_notes(record: StudyRecord) -> list[str]:
    """Say who leads at the longest length, what the groups mean, and who is not shown."""
    metrics = length_metrics(record)
    if not metrics:
        return []
    shown = shown_entrants(record)
    longest = max(metrics)
    notes = []
    ranking = _ranking(record, shown, metrics[longest])
    if ranking is not None:
        leading = [one for one in ranking.entrants if one.group == 1]
        if leading and ranking.seeds >= MIN_SEEDS:
            best = leading[0]
            tied = ", ".join(one.name for one in leading[1:])
            words = f"; it cannot be distinguished from {tied}" if tied else ""
            score = number_text(best.mean, "share")
            notes.append(
                f"At {longest} tokens {best.name} leads the encodings with {score}{words}. (1) "
                "marks this group at each length, (2) the group of the best of the rest, and so on."
            )
        elif leading:
            notes.append(
                f"{counted(ranking.seeds, record.unit)}: no conclusion about longer rows is "
                "possible."
            )
    hidden = [entrant.name for entrant in best_first(record) if not learned_length(entrant, record)]
    if hidden:
        notes.append(
            f"{NOT_SHOWN} not shown: fewer than half of the runs reached "
            f"{record.facts.threshold:g} at the trained length, so longer rows would say nothing: "
            f"{', '.join(hidden)}."
        )
    return notes


def _ranking(record: StudyRecord, shown: list[EntrantRecord], metric: str) -> Ranking | None:
    if not shown:
        return None
    scores = {entrant.name: entrant.scores(metric) for entrant in shown}
    references = [*record.controls, *record.settings.baselines]
    return rank(scores, references=references, higher_is_better=record.facts.higher_is_better)


def _cell(entrant: EntrantRecord, metric: str, ranking: Ranking | None) -> str:
    groups = {} if ranking is None else {one.name: one.group for one in ranking.entrants}
    group = groups.get(entrant.name)
    text = mean_text(entrant.scores(metric))
    return f"{text} ({group})" if group and ranking and ranking.seeds >= MIN_SEEDS else text
