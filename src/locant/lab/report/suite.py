"""Several studies side by side: every row's deciding score in each of them."""

from __future__ import annotations

from locant.lab.report.details import Table, with_half
from locant.lab.report.learning import learnt
from locant.lab.report.ranked import ranked
from locant.lab.report.search import distrusted
from locant.lab.report.study import conclusion
from locant.lab.store.record import StudyRecord

LEGEND = "k/n: runs that learnt it; (1): not to be told from the first encoding of the study, (2) from the next, and so on"


def side_by_side(records: list[StudyRecord]) -> Table:
    """One line a row, one column a study: runs that learnt it, mean ± half an interval, and the group among encodings."""
    names = list(dict.fromkeys(row.name for record in records for row in record.rows))
    columns = [_cells(record) for record in records]
    heads = ["", *[record.study["name"] for record in records]]
    return heads, [[name, *[column.get(name, "") for column in columns]] for name in names]


def together(title: str, records: list[StudyRecord]) -> str:
    """Several studies on one Markdown page: the table, then what each of them says, with the way to its own page."""
    heads, rows = side_by_side(records)
    heads = ["", *[f"[{name}]({name}.md)" for name in heads[1:]]]
    said = [
        f"- [{record.study['name']}]({record.study['name']}.md): {conclusion(record)}"
        for record in records
    ]
    table = [f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows]]
    return "\n".join([f"# {title}", "", *table, "", LEGEND + ".", "", *said, ""])


def _cells(record: StudyRecord) -> dict[str, str]:
    ranking, metric = ranked(record), record.facts["metric"]
    group = {row.name: row.group for row in ranking.rows} if ranking else {}
    cells, failed = {}, distrusted(record)
    for row in record.rows:
        found = learnt(row, record)
        share = [f"{found[0]}/{found[1]}"] if found else []
        place = (
            [f"({'search failed' if row.name in failed else group[row.name]})"]
            if group.get(row.name)
            else []
        )
        told = " ".join([*share, with_half(row.scores(metric)), *place])
        cells[row.name] = f"{len(row.failures)} failed" if row.failures else told
    return cells
