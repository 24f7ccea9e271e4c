"""Several studies side by side: every row's deciding score in each of them."""

from __future__ import annotations

from locant.report.details import Table, with_half
from locant.report.ranked import ranked
from locant.results.record import StudyRecord


def side_by_side(records: list[StudyRecord]) -> Table:
    """One line a row, one column a study: mean ± half an interval, then the tie letters of that study."""
    names = list(dict.fromkeys(row.name for record in records for row in record.rows))
    columns = [_cells(record) for record in records]
    heads = ["", *[record.study["name"] for record in records]]
    return heads, [[name, *[column.get(name, "") for column in columns]] for name in names]


def _cells(record: StudyRecord) -> dict[str, str]:
    ranking, metric = ranked(record), record.facts["metric"]
    letters = {row.name: row.letters for row in ranking.rows} if ranking else {}
    return {
        row.name: f"{with_half(row.scores(metric))} {letters.get(row.name, '')}".strip()
        if not row.failures
        else f"{len(row.failures)} failed"
        for row in record.rows
    }
