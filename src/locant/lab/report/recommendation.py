"""What to take for the user's own data, in plain words, with its cost and the lines that use it. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from locant.lab.report.ranked import plain, ranked, rivals
from locant.lab.report.search import distrusted
from locant.lab.report.snippet import snippet
from locant.lab.statistics.ranking import Ranking, Row
from locant.lab.statistics.verdict import ENOUGH, FEWEST, short
from locant.lab.store.record import StudyRecord


class Advice(NamedTuple):
    """Sentences: what to take and why, what it costs; and the lines of Python that use it."""

    lines: list[str]
    code: Sequence[str] = ()


def recommendation(record: StudyRecord) -> Advice:
    """What to take of what was compared; nothing unless the study is to recommend."""
    if not record.study.get("recommends"):
        return Advice([])
    ranking = ranked(record)
    found = (
        [row for row in rivals(ranking) if row.name not in distrusted(record)] if ranking else []
    )
    if ranking is None or not found:
        return Advice(["No encoding has all its runs: nothing can be recommended."])
    if ranking.seeds < FEWEST:
        return Advice(
            [f"{ranking.seeds} seeds are too few to recommend anything. Run at least {ENOUGH}."]
        )
    untrained = _plain(record, ranking, found[0])
    blind = _blind(ranking, found[0])
    if blind:
        why = f"Take none: the best encoding, {found[0].name}, is not surely better than {blind}."
        return Advice([why, *untrained], snippet(record, "none"))
    taken = found[0].name
    level = [row.name for row in found[1:] if not ranking.told(taken, row.name)]
    why = (
        f"Take {taken}: it comes first ({short(found[0].mean)}), though it cannot be told from {', '.join(level)}."
        if level
        else f"Take {taken}: it is ahead of all other encodings ({short(found[0].mean)})."
    )
    hint = (
        f" {ranking.seeds} seeds make this a hint; {ENOUGH} would make it a claim."
        if ranking.seeds < ENOUGH
        else ""
    )
    return Advice([why + hint, _cost(record, ranking, taken), *untrained], snippet(record, taken))


def _blind(ranking: Ranking, first: Row) -> str:
    """The control that the best encoding cannot be told from, or that is ahead of it."""
    for row in ranking.rows:
        ahead = ranking.rows.index(row) < ranking.rows.index(first)
        if row.name in ("none", "scrambled") and (ahead or not ranking.told(row.name, first.name)):
            return row.name
    return ""


def _plain(record: StudyRecord, ranking: Ranking, first: Row) -> list[str]:
    """The plain methods that no encoding beats."""
    ahead = ranking.rows[: ranking.rows.index(first)]
    methods = [row for row in ranking.rows if row.name in plain(record)]
    names = [row.name for row in methods if row in ahead or not ranking.told(row.name, first.name)]
    return (
        [f"No encoding is surely better than this, which needs no training: {', '.join(names)}."]
        if names
        else []
    )


def _cost(record: StudyRecord, ranking: Ranking, taken: str) -> str:
    rows = {row.name: row for row in record.rows}
    own = rows[taken].cost
    said = f"It learns {own['positional_parameters']:,.0f} numbers of its own"
    if "none" not in record.complete:
        return f"{said}."
    gap, _ = ranking.apart(taken, "none")
    slower = own["seconds_a_step"] / rows["none"].cost["seconds_a_step"]
    change = f"{short(gap.mean)} ± {short(gap.half_width)}"
    return f"{said}; a step takes {slower:.2f} times as long as without; it changes {record.facts['metric']} by {change}."
