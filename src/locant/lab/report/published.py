"""Published values and statements, held against what was measured here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from locant._internal.text import counted, number_text
from locant.lab.report.longer_rows import learned_length, length_metrics
from locant.lab.report.rendering import Table, mean_text
from locant.lab.statistics.paired import interval
from locant.lab.statistics.verdict import MIN_SEEDS
from locant.lab.store.record import EntrantRecord, StudyRecord


def published_table(record: StudyRecord) -> Table | None:
    """Put what was published beside what was measured."""
    published = record.settings.published
    if not published:
        return None
    known = [record.facts.metric, *record.settings.details]
    metrics = [name for name in known if any(name in values for values in published.values())]
    header = [""]
    for name in metrics:
        header += [f"{name}, published", f"{name}, here"]
    lines = []
    for entrant in record.entrants:
        if entrant.name not in published:
            continue
        line = [entrant.name]
        for name in metrics:
            line.append(number_text(published[entrant.name].get(name), "share"))
            line.append(mean_text(entrant.scores(name)))
        lines.append(line)
    return header, lines


class JudgedStatement(NamedTuple):
    """A published statement, the published number, what was measured here, and the answer."""

    statement: str
    published: str
    measured: str
    answer: str


def judge_statements(record: StudyRecord) -> list[JudgedStatement]:
    """Judge every published statement of a study by a 95 % interval over seeds."""
    entrants = {entrant.name: entrant for entrant in record.entrants if not entrant.failures}
    judged = []
    for one in record.settings.claims:
        names = [one.row, one.against] if one.against else [one.row]
        if not all(name in entrants and len(entrants[name].scores(one.metric)) for name in names):
            judged.append(JudgedStatement(one.claim, one.published, "not run", "cannot be decided"))
            continue
        if unlearned := _unlearned(record, one.metric, [entrants[name] for name in names]):
            judged.append(JudgedStatement(one.claim, one.published, unlearned, "cannot be decided"))
            continue
        values = entrants[one.row].scores(one.metric)
        if one.against:
            values = values - entrants[one.against].scores(one.metric)
        measured = f"{one.metric} of {' minus '.join(names)}: {mean_text(values)}"
        bound, side = one.bound()
        answer = judge(values, bound, side, record.unit)
        judged.append(JudgedStatement(one.claim, one.published, measured, answer))
    return judged


def _unlearned(record: StudyRecord, metric: str, entrants: list[EntrantRecord]) -> str:
    """Name the entrants whose longer rows say nothing; "" where the metric is of no longer rows."""
    if metric not in length_metrics(record).values():
        return ""
    names = [one.name for one in entrants if not learned_length(one, record)]
    return f"trained length not learned: {', '.join(names)}" if names else ""


def judge(values: np.ndarray, bound: float, side: int, unit: str = "seeds") -> str:
    """Decide by their interval whether values lie on one side of a bound.

    With too few values for a conclusion the answer is where the interval points.

    >>> many = np.linspace(0.0, 0.01, 6)
    >>> judge(0.9 + many, 0.5, 1), judge(0.2 + many, 0.5, 1), judge(0.495 + many, 0.5, 1)
    ('holds', 'does not hold', 'cannot be decided')
    >>> judge(0.9 + many[:3], 0.5, 1)
    'points that way (3 seeds: no conclusion)'
    >>> judge(0.2 + many[:3], 0.5, 1)
    'points the other way (3 seeds: no conclusion)'
    >>> judge(np.array([0.2, 0.9]), 0.5, 1), judge(np.array([0.9]), 0.5, 1)
    ('stays open', 'stays open')
    """
    low, high = interval(values)
    if side < 0:
        low, high, bound = -high, -low, -bound
    if len(values) >= MIN_SEEDS:
        if low > bound:
            return "holds"
        return "does not hold" if high <= bound else "cannot be decided"
    few = f"({counted(len(values), unit)}: no conclusion)"
    if low > bound:
        return f"points that way {few}"
    return f"points the other way {few}" if high <= bound else "stays open"


def statements_table(record: StudyRecord) -> Table | None:
    """List every published statement with what was measured, and whether it holds."""
    lines = [list(judged) for judged in judge_statements(record)]
    return (["statement", "published", "measured here", "so it"], lines) if lines else None


def statements_note(record: StudyRecord) -> list[str]:
    """Say how published statements are judged."""
    if not record.settings.claims:
        return []
    seeds = max((len(entrant.seeds) for entrant in record.entrants), default=0)
    interval_text = f"a 95 % t interval over {counted(seeds, record.unit)}"
    one_side = "entirely on one side of what was stated"
    if seeds >= MIN_SEEDS:
        return [f"Judged by {interval_text}: it must lie {one_side}."]
    hint = f"with fewer than {MIN_SEEDS} {record.unit} no conclusion is possible."
    return [
        f"The direction in which {interval_text} points, where it lies {one_side}. "
        f"That is a hint: {hint}"
    ]
