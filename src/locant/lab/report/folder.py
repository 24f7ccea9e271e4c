"""Studies as a folder of Markdown files with their pictures beside them. No torch."""

from __future__ import annotations

from pathlib import Path

from locant.lab.report.pictures import pictures, write_pictures
from locant.lab.report.study import markdown
from locant.lab.store.record import StudyRecord


def write_folder(records: list[StudyRecord], out: Path) -> list[Path]:
    """NAME.md and NAME/*.png for each study; the Markdown files."""
    written = []
    for record in records:
        name = record.study["name"]
        write_pictures(record, out / name)
        shown = [
            (picture.caption, f"{name}/{key}.png") for key, picture in pictures(record).items()
        ]
        path = out / f"{name}.md"
        path.write_text(markdown(record, shown), encoding="utf-8")
        written.append(path)
    return written
