"""Several studies side by side: every row's deciding score in each of them."""

from __future__ import annotations

from locant.report.details import Table, with_half
from locant.report.ranked import ranked
from locant.report.study import conclusion
from locant.results.record import StudyRecord


def side_by_side(records: list[StudyRecord]) -> Table:
    """One line a row, one column a study: mean ± half an interval, then the tie letters of that study."""
    names = list(dict.fromkeys(row.name for record in records for row in record.rows))
    columns = [_cells(record) for record in records]
    heads = ["", *[record.study["name"] for record in records]]
    return heads, [[name, *[column.get(name, "") for column in columns]] for name in names]


def together(title: str, records: list[StudyRecord]) -> str:
    """Several studies on one Markdown page: the table, then what each of them says, with the way to its own page."""
    heads, rows = side_by_side(records)
    heads = ["", *[f"[{name}]({name}.md)" for name in heads[1:]]]
    said = [f"- [{record.study['name']}]({record.study['name']}.md): {conclusion(record)}" for record in records]
    table = [f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows]]
    return "\n".join([f"# {title}", "", *table, "", "Letters: ties within a study.", "", *said, ""])


def _cells(record: StudyRecord) -> dict[str, str]:
    ranking, metric = ranked(record), record.facts["metric"]
    letters = {row.name: row.letters for row in ranking.rows} if ranking else {}
    return {
        row.name: f"{with_half(row.scores(metric))} {letters.get(row.name, '')}".strip()
        if not row.failures
        else f"{len(row.failures)} failed"
        for row in record.rows
    }
