"""What to take for the user's own data, in plain words, with its cost and the lines that use it. No torch."""

from __future__ import annotations

from locant.report.ranked import plain, ranked, rivals
from locant.results.record import StudyRecord
from locant.statistics.ranking import Ranking, Row
from locant.statistics.verdict import ENOUGH, FEWEST, short


def recommendation(record: StudyRecord) -> list[str]:
    """What to take and why, then what it costs; nothing unless the study is to recommend."""
    if not record.study.get("recommends"):
        return []
    ranking, seeds = ranked(record), len(record.rows[0].seeds)
    found = rivals(record, ranking) if ranking else []
    if ranking is None or not found:
        return ["No encoding has all its runs: nothing can be recommended."]
    if seeds < FEWEST:
        return [f"{seeds} seeds are too few to recommend anything. Run at least {ENOUGH}."]
    taken = _taken(record)
    assert taken is not None
    untrained = _plain(record, ranking, found[0])
    if taken == "none":
        blind = _blind(record, ranking, found[0])
        return [f"Take none: the best encoding, {found[0].name}, cannot be told from {blind}.", *untrained]
    level = [row.name for row in _level(found) if row.name != taken]
    why = (
        f"Take {taken}: at the top it cannot be told from {', '.join(level)}, and of these it is the quickest."
        if level
        else f"Take {taken}: it is ahead of all other encodings ({short(found[0].mean)})."
    )
    hint = f" {seeds} seeds make this a hint; {ENOUGH} would make it a claim." if seeds < ENOUGH else ""
    return [why + hint, _cost(record, ranking, taken), *untrained]


def python(record: StudyRecord) -> list[str]:
    """The lines that use what is recommended."""
    taken = _taken(record) if record.study.get("recommends") else None
    if taken is None:
        return []
    encoding = next(row.encoding for row in record.rows if row.name == taken)
    model = record.study["model"]
    sizes = f"dim={model['dim']}, heads={model['heads']}, length={record.facts['length']}"
    return [
        "import locant",
        f'encoding = locant.make("{encoding}", {sizes})',
        f"model = locant.Transformer(encoding, layers={model['layers']})  # model(x, locant.positions.consecutive(T))",
    ]


def _taken(record: StudyRecord) -> str | None:
    """The quickest of the best; none when the best cannot be told from it; nothing with too few seeds."""
    ranking = ranked(record)
    found = rivals(record, ranking) if ranking else []
    if ranking is None or not found or ranking.seeds < FEWEST:
        return None
    if _blind(record, ranking, found[0]):
        return "none"
    seconds = {row.name: row.cost["seconds_a_step"] for row in record.rows if row.cost}
    return min(_level(found), key=lambda row: (seconds[row.name], row.name)).name


def _level(found: list[Row]) -> list[Row]:
    """Those that cannot be told from the first."""
    return [row for row in found if set(row.letters) & set(found[0].letters)]


def _blind(record: StudyRecord, ranking: Ranking, first: Row) -> str:
    """The control that the best encoding cannot be told from, or that is ahead of it."""
    for row in ranking.rows:
        ahead = ranking.rows.index(row) < ranking.rows.index(first)
        if row.name in ("none", "scrambled") and (ahead or set(row.letters) & set(first.letters)):
            return row.name
    return ""


def _plain(record: StudyRecord, ranking: Ranking, first: Row) -> list[str]:
    """The plain methods that no encoding beats."""
    ahead = ranking.rows[: ranking.rows.index(first)]
    listed = [row for row in ranking.rows if row in ahead or set(row.letters) & set(first.letters)]
    names = [row.name for row in listed if row.name in plain(record)]
    return [f"No encoding is surely better than this, which needs no training: {', '.join(names)}."] if names else []


def _cost(record: StudyRecord, ranking: Ranking, taken: str) -> str:
    rows = {row.name: row for row in record.rows}
    own = rows[taken].cost
    said = f"It learns {own['positional_parameters']:,.0f} numbers of its own"
    if "none" not in record.complete:
        return f"{said}."
    gap, _ = ranking.apart(taken, "none")
    slower = own["seconds_a_step"] / rows["none"].cost["seconds_a_step"]
    change = f"{short(gap.mean)} ± {short(gap.half_width)}"
    return (
        f"{said}; a step takes {slower:.2f} times as long as without; it changes {record.facts['metric']} by {change}."
    )
