"""Studies as one HTML file that needs nothing else: verdict first, then table, pictures, protocol, and every run. No torch."""

from __future__ import annotations

import base64
import tempfile
import time
from pathlib import Path
from typing import Any

from locant.figures.plots.saving import save
from locant.figures.plots.small import shrink
from locant.lab.report.details import Table
from locant.lab.report.pictures import pictures
from locant.lab.report.rendering import environment
from locant.lab.report.study import cells, conclusion, heading, heads, note, sections, table
from locant.lab.report.suite import side_by_side
from locant.lab.store.record import StudyRecord


def html(records: list[StudyRecord]) -> str:
    """The page of one study, or of several with a table of all."""
    together = _table(side_by_side(records)) if len(records) > 1 else None
    shown = [_shown(record) for record in records]
    return environment().get_template("study.html").render(records=shown, together=together)


def _shown(record: StudyRecord) -> dict[str, Any]:
    title, measured = heading(record)
    return {
        "id": record.id,
        "title": title,
        "question": record.study.get("question", ""),
        "verdict": conclusion(record),
        "measured": measured,
        "table": _table((heads(record), [cells(row, record) for row in table(record)])),
        "note": note(record),
        "failures": [f"{row.name} failed: {why}" for row in record.rows for why in row.failures],
        "pictures": _pictures(record),
        "sections": [
            {**part._asdict(), "table": _table(part.table) if part.table else None}
            for part in sections(record)
        ],
        "command": record.command,
        "finished": time.strftime("%Y-%m-%d", time.localtime(record.finished)),
        "runs": _table(_runs(record)),
    }


def _table(parts: Table) -> dict[str, Any]:
    return dict(zip(("heads", "rows"), parts, strict=True))


def _runs(record: StudyRecord) -> Table:
    """One line a run: its digest names its settings in the store."""
    metric = record.facts["metric"]
    rows = [
        [row.name, record.called(seed), digest, f"{score:.4f}"]
        for row in record.rows
        if not row.failures
        for seed, digest, score in zip(row.seeds, row.digests, row.scores(metric), strict=True)
    ]
    return ["", record.one, "run", metric], rows


def _pictures(record: StudyRecord) -> list[dict[str, str]]:
    """Every picture on light and on dark paper, as text."""
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        for picture in pictures(record).values():
            entry = {"caption": picture.caption}
            for theme in ("light", "dark"):
                path = shrink(
                    save(picture.draw(theme), Path(folder) / f"{theme}.png", title=picture.caption)
                )
                entry[theme] = base64.b64encode(path.read_bytes()).decode("ascii")
            shown.append(entry)
    return shown
