"""A study for people to read: the verdict first, then the table. From the store alone; no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from locant.lab.report import controls, protocol, search
from locant.lab.report.claims import answers
from locant.lab.report.details import Table, details, published
from locant.lab.report.learning import learning, learnt, longer, standing
from locant.lab.report.ranked import plain, ranked, rivals
from locant.lab.report.recommendation import recommendation
from locant.lab.report.repeated import caveats, survives
from locant.lab.report.search import distrusted
from locant.lab.statistics.paired import detectable, holm, seeds_needed
from locant.lab.statistics.ranking import ALPHA, Ranking
from locant.lab.statistics.verdict import ENOUGH, FEWEST, verdict
from locant.lab.store.record import RowRecord, StudyRecord


def note(record: StudyRecord) -> str:
    """What the columns of the table mean."""
    learnt = (
        f"learnt: runs that reached {record.facts['threshold']:g} in validation; "
        if _tells_learning(record)
        else ""
    )
    return (
        f"{learnt}an encoding cannot be told from the first of its group (sign flips paired by {record.one}, corrected "
        "over all pairs of encodings); ± is half a 95 % t interval; p is against none, corrected over the rows; "
        "ms/step is the work of training alone (CPU time on a CPU)"
    )


def _tells_learning(record: StudyRecord) -> bool:
    return any(learnt(row, record) is not None for row in record.rows)


def table(record: StudyRecord) -> list[dict[str, Any]]:
    """One dictionary a row, best first; rows with failed runs last, without a place."""
    metric = record.facts["metric"]
    by_name = {row.name: row for row in record.rows}
    ranking = ranked(record)
    listed: list[dict[str, Any]] = []
    p_none = _against_none(ranking)
    failed = distrusted(record)
    for place in ranking.rows if ranking else []:
        apart = ranking.apart(place.name, "none") if ranking and place.name in p_none else None
        listed.append(
            {
                "name": place.name,
                metric: place.mean,
                "low": _finite(place.low),
                "high": _finite(place.high),
                "group": None if place.name in failed else place.group or None,
                "search_failed": place.name in failed,
                "learnt": _share_learnt(by_name[place.name], record),
                "against_none": apart[0].mean if apart else None,
                "against_none_low": _finite(apart[0].low) if apart else None,
                "against_none_high": _finite(apart[0].high) if apart else None,
                "p": apart[1] if apart else None,
                "p_holm": p_none.get(place.name),
                **_cost(by_name[place.name]),
                "seeds": len(place.scores),
                "failed": 0,
                "rate": by_name[place.name].usual[0],
                "positional_rate": by_name[place.name].usual[1],
            }
        )
    empty = dict.fromkeys(listed[0] if listed else ("name",))
    for row in record.rows:
        if row.failures:
            listed.append(
                {
                    **empty,
                    "name": row.name,
                    "seeds": len(row.scores(metric)),
                    "failed": len(row.failures),
                }
            )
    return listed


def _share_learnt(row: RowRecord, record: StudyRecord) -> float | None:
    found = learnt(row, record)
    return None if found is None else found[0] / found[1]


def _finite(value: float) -> float | None:
    """None for an interval without ends, which no table and no JSON can hold."""
    return value if np.isfinite(value) else None


def _against_none(ranking: Ranking | None) -> dict[str, float]:
    """The p of every row against none alone, by Holm."""
    if ranking is None or all(row.name != "none" for row in ranking.rows):
        return {}
    others = [row.name for row in ranking.rows if row.name != "none"]
    return dict(
        zip(others, holm([ranking.apart(name, "none")[0].p for name in others]), strict=True)
    )


def _cost(row: RowRecord) -> dict[str, float | None]:
    return {
        "parameters": row.cost.get("parameters"),
        "ms_a_step": None
        if "seconds_a_step" not in row.cost
        else 1000 * row.cost["seconds_a_step"],
        "megabytes": row.cost.get("peak_megabytes"),
    }


def conclusion(record: StudyRecord) -> str:
    """The verdict in words, with what the runs could have seen."""
    ranking = ranked(record)
    if ranking is None:
        return "No row has all its runs: nothing can be said."
    knows = record.facts.get("oracles", ())  # rows that know the answer are no methods
    ranking = replace(ranking, rows=[row for row in ranking.rows if row.name not in knows])
    said = verdict(
        ranking,
        record.controls,
        plain(record),
        unit=record.unit,
        margin=record.study.get("margin"),
        distrusted=distrusted(record),
        missing=[row.name for row in record.rows if row.failures],
    )
    if search.searched_once(record):
        said = f"Not to be relied on: one search chose for all {record.unit}, and no interval knows its luck. {said}"
    if ranking.seeds < FEWEST or len(rivals(ranking)) < 2:
        return said
    pairs = combinations(rivals(ranking), 2)
    spread = float(np.median([np.std(np.subtract(a.scores, b.scores), ddof=1) for a, b in pairs]))
    if ranking.seeds >= ENOUGH and spread > 0:
        seen = detectable(spread, ranking.seeds, alpha=ranking.level)
        said += (
            f" For the median pair of encodings, differences below {seen:.2g} could hardly be seen with {ranking.seeds} "
            f"{record.unit}, corrected for all pairs."
        )
    return said + _to_see(record, ranking.level, spread)


def _to_see(record: StudyRecord, level: float, spread: float) -> str:
    """How many would be needed to see the difference that matters, where the study names one."""
    matters = record.study.get("matters")
    if matters is None:
        return ""
    needed = seeds_needed(matters, spread, alpha=level)
    many = "more than 1,000" if needed is None else f"{needed:,}"
    return f" To see {matters:g} between two encodings, corrected for all pairs, would take about {many} {record.unit}."


def heading(record: StudyRecord) -> list[str]:
    facts = record.facts
    better = "higher" if facts["higher_is_better"] else "lower"
    return [
        record.study["title"],
        f"{facts['metric']} on {facts['tested_on']}, {better} is better; chance {facts['chance']:.3g}"
        + "".join(f"; {sight} at most {value:.3g}" for sight, value in facts["ceilings"].items()),
    ]


def markdown(record: StudyRecord, pictures: Sequence[tuple[str, str]] = ()) -> str:
    """Heading, verdict, table, pictures (caption, path) and how to reproduce, as Markdown."""
    lines = [
        f"# {record.study['title']}",
        "",
        *heading(record)[1:],
        "",
        f"**{conclusion(record)}**",
        "",
    ]
    lines += markdown_table(heads(record), [cells(row, record) for row in table(record)])
    lines += ["", f"{note(record)}.", ""]
    lines += [f"- {row.name} failed: {why}" for row in record.rows for why in row.failures]
    for part in sections(record):
        lines += ["", f"## {part.title}", "", *[f"- {line}" for line in part.lines]]
        if part.table:
            lines += [*[""] * bool(part.lines), *markdown_table(*part.table)]
        if part.code:
            lines += ["", "```python", *part.code, "```"]
    for caption, path in pictures:
        lines += ["", f"![{caption}]({path})", "", f"*{caption}*"]
    lines += ["", f"Study `{record.id}`, made by `{record.command}`.", ""]
    return "\n".join(lines)


class Section(NamedTuple):
    """A part of a report: sentences, then perhaps a table, then perhaps lines of Python."""

    title: str
    lines: list[str]
    table: Table | None = None
    code: Sequence[str] = ()


def sections(record: StudyRecord) -> list[Section]:
    """Everything after the first table: controls, details, learning, published values, claims, words, protocol."""
    study, advice = record.study, recommendation(record)
    found = [
        Section("What to take", advice.lines, code=advice.code),
        Section("Does it survive another model?", caveats(record), survives(record)),
        Section("What the controls show", controls.told(record)),
        Section("More measurements", [], details(record)),
        Section("Who learnt it, and how soon", standing(record), learning(record)),
        Section("What was not learnt, with more steps", [], longer(record)),
        Section("Flaws of the published protocol, kept on purpose", list(study.get("flaws", []))),
        Section("Published and measured", [], published(record)),
        Section("Published claims", _judged(record), _claims(record)),
        Section("In plain words", _words(study.get("words") or {})),
        Section("How it was done", protocol.told(record)),
        Section(
            "What the searches chose",
            [*search.costs(record), *search.edges(record)],
            search.chosen(record),
        ),
        Section("Every pair of encodings", [], all_pairs(record)),
    ]
    return [part for part in found if part.lines or part.table]


def _judged(record: StudyRecord) -> list[str]:
    if not record.study.get("claims"):
        return []
    seeds = max((len(row.seeds) for row in record.rows), default=0)
    over, wholly = (
        f"a 95 % t interval over {seeds} {record.unit}",
        "wholly on one side of what was claimed",
    )
    if seeds < FEWEST:
        hint = f"That is a hint: with fewer than {FEWEST} {record.unit} no claim is possible."
        return [f"Which way {over} points, where it lies {wholly}. {hint}"]
    return [f"Judged by {over}: it must lie {wholly}."]


def _claims(record: StudyRecord) -> Table | None:
    rows = [list(answer) for answer in answers(record)]
    return (["claim", "published", "measured here", "so it"], rows) if rows else None


def _words(words: dict[str, str]) -> list[str]:
    heads = {
        "shows": "What this shows",
        "does_not_show": "What it does not",
        "would_change_it": "What would change it",
    }
    return [f"{head}: {words[key]}" for key, head in heads.items() if words.get(key)]


def all_pairs(record: StudyRecord) -> Table | None:
    """Row minus column, for every pair of encodings, with a star where they can be told apart."""
    ranking = ranked(record)
    names = [row.name for row in rivals(ranking)] if ranking else []
    if ranking is None or len(names) < 3 or ranking.seeds < FEWEST:
        return None
    found = []
    for a in names[:-1]:
        pairs = {b: ranking.apart(a, b) for b in names[names.index(a) + 1 :]}
        own = [
            f"{pairs[b][0].mean:+.3f}{'*' * (pairs[b][1] < ALPHA)}" if b in pairs else ""
            for b in names[1:]
        ]
        found.append([a, *own])
    return ["row minus column", *names[1:]], found


def markdown_table(heads: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def heads(record: StudyRecord) -> list[str]:
    first = ["", "learnt"] if _tells_learning(record) else [""]
    return [
        *first,
        record.facts["metric"],
        "group",
        "against none",
        "p",
        "params",
        "ms/step",
        "MB",
        record.unit,
    ]


def cells(row: dict[str, Any], record: StudyRecord) -> list[str]:
    """One row of the table as text, under `heads`."""
    metric = record.facts["metric"]
    if row["failed"]:
        return [
            row["name"],
            *[""] * (len(heads(record)) - 2),
            f"{row['seeds']} ({row['failed']} failed)",
        ]
    shown = "" if row["learnt"] is None else f"{row['learnt'] * row['seeds']:.0f} of {row['seeds']}"
    return [
        row["name"],
        *([shown] if _tells_learning(record) else []),
        _with_interval(row[metric], row["low"], row["high"], ".3f"),
        "search failed"
        if row["search_failed"]
        else ""
        if row["group"] is None
        else str(row["group"]),
        _with_interval(
            row["against_none"], row["against_none_low"], row["against_none_high"], "+.3f"
        ),
        "" if row["p"] is None else f"{row['p']:.3f}",
        _number(row["parameters"], ",.0f"),
        _number(row["ms_a_step"], ".1f"),
        _number(row["megabytes"], ".0f"),
        str(row["seeds"]),
    ]


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _with_interval(value: float | None, low: float | None, high: float | None, form: str) -> str:
    if value is None:
        return ""
    return f"{value:{form}}" + (
        f" ± {(high - low) / 2:.3f}" if low is not None and high is not None else ""
    )
