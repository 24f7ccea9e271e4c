"""A study beside the one that it repeats with another model: which rows keep their standing. No torch."""

from __future__ import annotations

from locant.lab.report.details import Table, with_half
from locant.lab.report.learning import learnt
from locant.lab.statistics.verdict import FEWEST
from locant.lab.store.record import RowRecord, StudyRecord


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
        cells.append(
            [
                row.name,
                with_half(there[row.name].scores(metric)),
                with_half(row.scores(metric)),
                word,
            ]
        )
    return ["", f"{metric}, {record.base.study['name']}", f"{metric}, here", "its standing"], cells


def caveats(record: StudyRecord) -> list[str]:
    """What such a comparison is worth."""
    if record.base is None:
        return []
    searched = (
        "" if record.study["search"] else ", at one learning rate for all rows, without a search"
    )
    few = max((len(row.seeds) for row in record.rows), default=0)
    hint = "; fewer than 6 are a hint at most" if few < FEWEST else ""
    return [
        f"{few} {record.unit} here{searched}{hint}. Standing: most runs learnt it, or not; else ahead of none, or not."
    ]


def standing(row: RowRecord, record: StudyRecord) -> bool | None:
    """Whether most runs of a row learnt the task; where that cannot be told, whether its mean is ahead of none's."""
    found = learnt(row, record)
    if found is not None:
        return 2 * found[0] > found[1]
    none, metric = record.complete.get("none"), record.facts["metric"]
    if none is None or row.name == "none":
        return None
    ahead = float(row.scores(metric).mean() - none.mean())
    return ahead * (1 if record.facts["higher_is_better"] else -1) > 0
