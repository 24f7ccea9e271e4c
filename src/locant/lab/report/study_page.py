"""A finished study for people to read: as Markdown, as one HTML file, or as a folder.

The verdict comes first, then the table, then everything that stands behind it. All of it is made
from the store alone.
"""

from __future__ import annotations

import base64
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from locant.figures.plots.saving import save
from locant.figures.plots.small import shrink
from locant.lab.report import learning_table as learning
from locant.lab.report import search_audit as search
from locant.lab.report.conclusion import conclusion, control_notes, recommend
from locant.lab.report.longer_rows import beyond_notes, beyond_table
from locant.lab.report.protocol import protocol_notes
from locant.lab.report.published import published_table, statements_note, statements_table
from locant.lab.report.rendering import (
    Table,
    best_first,
    environment,
    markdown_table,
    mean_text,
)
from locant.lab.report.score_table import (
    LEGEND,
    pairs_table,
    side_by_side,
    table_note,
    text_table,
)
from locant.lab.report.study_pictures import pictures, write_pictures
from locant.lab.report.study_view import ceiling_names, tested_on
from locant.lab.store.record import StudyRecord

PLAIN_WORDS = {  # fields of a study's words, and how each begins in a report
    "shows": "What this shows",
    "does_not_show": "What it does not show",
    "would_change_it": "What would change it",
}


class Section(NamedTuple):
    """A part of a report: sentences, then perhaps a table, then perhaps lines of Python."""

    title: str
    lines: list[str]
    table: Table | None = None
    code: Sequence[str] = ()


def title_and_facts(record: StudyRecord) -> tuple[str, str]:
    """Write the title of a study, and one line on what was measured."""
    facts = record.facts
    better = "higher" if facts.higher_is_better else "lower"
    line = f"{facts.metric} on {tested_on(record)}, {better} is better; chance {facts.chance:.3g}"
    for name, value in ceiling_names(record).items():
        line += f"; at most {value:.3g} {name}"
    return record.settings.title, line


def failure_notes(record: StudyRecord) -> list[str]:
    """Name every run that failed, and why."""
    notes = []
    for entrant in record.entrants:
        notes += [f"{entrant.name} failed: {why}" for why in entrant.failures]
    return notes


def sections(record: StudyRecord) -> list[Section]:
    """Collect everything after the first table that has something to show."""
    advice = recommend(record)
    flaws = list(record.settings.flaws)
    search_notes = [
        *search.cost_notes(record),
        *search.edge_notes(record),
        *search.column_notes(record),
    ]
    parts = [
        Section("What to take", advice.lines, code=advice.code),
        Section(
            learning.replication_title(record),
            [*learning.replication_notes(record), *_verdict_of_the_base(record)],
            learning.replication_table(record),
        ),
        Section("What the controls show", control_notes(record)),
        Section("Beyond the trained length", beyond_notes(record), beyond_table(record)),
        Section("More measurements", [], details_table(record)),
        Section(
            "Which entrants learned it, and how soon",
            learning.unlearned_notes(record),
            learning.learning_table(record),
        ),
        Section("What was not learned, with more steps", [], learning.longer_table(record)),
        Section("Flaws of the published protocol, kept on purpose", flaws),
        Section("Published and measured", [], published_table(record)),
        Section("Published statements", statements_note(record), statements_table(record)),
        Section("In plain words", _plain_words(record)),
        Section("How it was done", protocol_notes(record)),
        Section("What the searches chose", search_notes, search.search_table(record)),
        Section("Every pair of encodings", [], pairs_table(record)),
    ]
    return [part for part in parts if part.lines or part.table]


def _verdict_of_the_base(record: StudyRecord) -> list[str]:
    """Repeat the verdict of the study that this one repeats, for comparison with its own."""
    if record.base is None:
        return []
    return [f"The verdict of {record.base.settings.name}: {conclusion(record.base)}"]


def details_table(record: StudyRecord) -> Table | None:
    """Make a column for each metric that the study reports beside the deciding one."""
    wanted = []
    for name in record.settings.details:
        longer = name.startswith(f"{record.facts.metric} at ")  # these have a table of their own
        if not longer and any(entrant.metrics.get(name) for entrant in record.entrants):
            wanted.append(name)
    if not wanted:
        return None
    lines = []
    for entrant in best_first(record):
        lines.append([entrant.name, *[mean_text(entrant.scores(name)) for name in wanted]])
    return ["", *wanted], lines


def _plain_words(record: StudyRecord) -> list[str]:
    lines = []
    for field, start in PLAIN_WORDS.items():
        text = getattr(record.settings.words, field)
        if text:
            lines.append(f"{start}: {text}")
    return lines


def markdown(record: StudyRecord, images: Sequence[tuple[str, str]] = ()) -> str:
    """Write a study as Markdown; images are pairs of a caption and a path."""
    title, facts = title_and_facts(record)
    lines = [f"# {title}", "", facts, "", f"**{conclusion(record)}**", ""]
    lines += markdown_table(*text_table(record))
    lines += ["", f"{table_note(record)}.", ""]
    lines += [f"- {note}" for note in failure_notes(record)]
    for part in sections(record):
        lines += ["", f"## {part.title}", "", *[f"- {line}" for line in part.lines]]
        if part.table:
            lines += [*[""] * bool(part.lines), *markdown_table(*part.table)]
        if part.code:
            lines += ["", "```python", *part.code, "```"]
    for caption, path in images:
        lines += ["", f"![{caption}]({path})", "", f"*{caption}*"]
    lines += ["", f"Study `{record.id}`, made by `{record.command}`.", ""]
    return "\n".join(lines)


def markdown_overview(title: str, records: list[StudyRecord]) -> str:
    """Write several studies on one Markdown page: a table of all, then the verdict of each."""
    header, lines = side_by_side(records)
    header = ["", *[f"[{name}]({name}.md)" for name in header[1:]]]
    table = [f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *lines]]
    verdicts = []
    for record in records:
        name = record.settings.name
        verdicts.append(f"- [{name}]({name}.md): {conclusion(record)}")
    return "\n".join([f"# {title}", "", *table, "", f"{LEGEND}.", "", *verdicts, ""])


def write_folder(
    records: list[StudyRecord], folder: Path, formats: Iterable[str] = ("png",)
) -> list[Path]:
    """Write NAME.md and the pictures NAME/*.png of each study; return the Markdown files.

    formats  of the pictures; the Markdown shows those of the first format
    """
    formats = list(formats)
    written = []
    for record in records:
        name = record.settings.name
        write_pictures(record, folder / name, formats)
        images = []
        for key, picture in pictures(record).items():
            images.append((picture.caption, f"{name}/{key}.{formats[0]}"))
        path = folder / f"{name}.md"
        path.write_text(markdown(record, images), encoding="utf-8")
        written.append(path)
    return written


def html(records: list[StudyRecord]) -> str:
    """Write one study, or several with a table of all, as one HTML file that needs nothing else."""
    together = _html_table(side_by_side(records)) if len(records) > 1 else None
    studies = [_html_fields(record) for record in records]
    return environment().get_template("study.html").render(records=studies, together=together)


def _html_fields(record: StudyRecord) -> dict[str, Any]:
    """Collect what the template shows of a study."""
    title, facts = title_and_facts(record)
    parts = []
    for part in sections(record):
        table = _html_table(part.table) if part.table else None
        parts.append({**part._asdict(), "table": table})
    return {
        "id": record.id,
        "title": title,
        "question": record.settings.question,
        "verdict": conclusion(record),
        "measured": facts,
        "table": _html_table(text_table(record)),
        "note": table_note(record),
        "failures": failure_notes(record),
        "pictures": _inline_pictures(record),
        "sections": parts,
        "command": record.command,
        "finished": time.strftime("%Y-%m-%d", time.localtime(record.finished)),
        "runs": _html_table(_runs_table(record)),
    }


def _html_table(table: Table) -> dict[str, Any]:
    header, lines = table
    return {"heads": header, "rows": lines}


def _runs_table(record: StudyRecord) -> Table:
    """List every reported run with the digest that names its settings in the store."""
    metric = record.facts.metric
    lines = []
    for entrant in record.entrants:
        if entrant.failures:
            continue
        runs = zip(entrant.seeds, entrant.digests, entrant.scores(metric), strict=True)
        for seed, digest, score in runs:
            lines.append([entrant.name, record.called(seed), digest, f"{score:.4f}"])
    return ["", record.one, "run", metric], lines


def _inline_pictures(record: StudyRecord) -> list[dict[str, str]]:
    """Draw every picture in the light and in the dark theme, as base64."""
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        for picture in pictures(record).values():
            entry = {"caption": picture.caption}
            for theme in ("light", "dark"):
                path = Path(folder) / f"{theme}.png"
                shrink(save(picture.draw(theme), path, title=picture.caption))
                entry[theme] = base64.b64encode(path.read_bytes()).decode("ascii")
            shown.append(entry)
    return shown
