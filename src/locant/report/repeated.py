"""A study beside the one that it repeats with another model: which rows keep their standing. No torch."""

from __future__ import annotations

from locant.report.details import Table, with_half
from locant.report.learning import learnt
from locant.results.record import RowRecord, StudyRecord


def survives(record: StudyRecord) -> Table | None:
    """For every row its score there and here, and whether it keeps its standing: learnt by most runs, or ahead of none."""
    if record.base is None:
        return None
    there = {row.name: row for row in record.base.rows if not row.failures}
    metric = record.facts["metric"]
    cells = []
    for row in record.rows:
        if row.failures or row.name not in there or not row.costs:
            continue
        before, now = standing(there[row.name], record.base), standing(row, record)
        word = "" if None in (before, now) else "survives" if before == now else "changes"
        cells.append([row.name, with_half(there[row.name].scores(metric)), with_half(row.scores(metric)), word])
    return ["", f"{metric}, {record.base.study['name']}", f"{metric}, here", "its standing"], cells


def standing(row: RowRecord, record: StudyRecord) -> bool | None:
    """Whether most runs of a row learnt the task; where that cannot be told, whether its mean is ahead of none's."""
    found = learnt(row, record)
    if found is not None:
        return 2 * found[0] > found[1]
    none, metric = record.complete.get("none"), record.facts["metric"]
    if none is None or row.name == "none":
        return None
    ahead = float(row.scores(metric).mean() - none.mean())
    return (ahead > 0) == bool(record.facts["higher_is_better"])
