"""Describe the studies of a store for the page: tables, numbers of pictures, and what is still
running."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from locant.explorer.serialization import to_json
from locant.figures.plots.colors import THEMES, dash
from locant.figures.plots.entrants import ENCODING, Entrant
from locant.lab.report import score_pictures
from locant.lab.report.conclusion import conclusion
from locant.lab.report.score_table import table_note, text_table
from locant.lab.report.study_page import title_and_facts
from locant.lab.report.study_view import StudyView
from locant.lab.statistics.paired import interval
from locant.lab.store.open import open_store
from locant.lab.store.record import StudyRecord, read_record
from locant.lab.store.store import Store
from locant.lab.store.unfinished import in_flight, unfinished
from locant.lab.tasks.base import make_task


def list_studies(path: Path) -> bytes:
    """List every finished study, newest first, and what is still being computed."""
    if not path.is_file():
        return to_json({"studies": [], "unfinished": [], "in_flight": 0})
    store = open_store(path)
    finished = []
    for study in store.studies():
        finished.append(
            {
                "id": study.id,
                "title": study.study["title"],
                "finished": study.finished,
                "runs": len(study.runs),
            }
        )
    running = [_progress(group) for group in unfinished(store)]
    return to_json({"studies": finished, "unfinished": running, "in_flight": in_flight(store)})


def _progress(group: Any) -> dict[str, Any]:
    """Describe a study that is not finished: the runs of each row, and their mean so far."""
    try:
        metric = make_task(group.task, **group.options).metric
    except (ValueError, TypeError):  # the task no longer exists, or has other options now
        metric = ""
    rows = []
    for name in dict.fromkeys([*group.rows, *group.failed]):
        results = group.rows.get(name, [])
        values = [result[metric] for result in results if metric in result]
        rows.append(
            {
                "name": name,
                "done": len(results),
                "failed": group.failed.get(name, 0),
                "mean": np.mean(values or [np.nan]),
            }
        )
    return {
        "task": group.task,
        "metric": metric,
        "searched": group.searched,
        "last": group.last,
        "rows": rows,
    }


def describe_study(path: Path, study: str) -> bytes:
    """Describe one study: verdict, table, and the numbers of its pictures, each with its
    caption."""
    return _describe(*find_study(path, study))


def find_study(path: Path, study: str) -> tuple[Path, str, float]:
    """Return the store's path, the study's id and when it finished: while these stay, so do its
    numbers."""
    store = open_store(path)
    found = [one for one in store.studies() if study in (one.id, one.name)]
    if not found:
        raise ValueError(f"{path} holds no study {study[:100]!r}. Choose one of the list.")
    return store.path, found[0].id, found[0].finished


@lru_cache(maxsize=4)
def read_study(path: Path, study_id: str, _finished: float) -> tuple[Store, StudyRecord]:
    """Read a study, and return it with its store."""
    store = Store(path)
    return store, read_record(store, study_id)


@lru_cache(maxsize=64)
def _describe(path: Path, study_id: str, finished: float) -> bytes:
    _, record = read_study(path, study_id, finished)
    view = StudyView(record)
    drawn = {
        "metric": score_pictures.metric(view),
        "forest": score_pictures.forest(view),
        "lengths": score_pictures.lengths(view),
    }
    pictures = {}
    for name, one in drawn.items():
        if one is not None:
            pictures[name] = _picture(one.numbers, one.caption)
    failures = []
    attention = []
    for row in record.entrants:
        failures += [f"{row.name}: {why}" for why in row.failures]
        if any(note.get("attention") for note in row.notes):
            attention.append(row.name)
    title, facts = title_and_facts(record)
    header, lines = text_table(record)
    return to_json(
        {
            "id": record.id,
            "title": title,
            "facts": facts,
            "question": record.settings.question,
            "command": record.command,
            "finished": record.finished,
            "verdict": conclusion(record),
            "note": table_note(record),
            "heads": header,
            "rows": lines,
            "failures": failures,
            "entrants": {row.name: _style(view.drawn[row.name]) for row in record.entrants},
            "attention": attention,
            "pictures": pictures,
        }
    )


def _style(entrant: Entrant) -> dict[str, Any]:
    """Describe how an entrant is drawn."""
    return {
        "encoding": entrant.encoding,
        "role": entrant.role,
        "again": entrant.again,
        "colors": {name: entrant.color(theme) for name, theme in THEMES.items()},
        "dash": dash(entrant.encoding if entrant.role == ENCODING else entrant.name),
    }


def _picture(numbers: dict[str, Any], caption: str) -> dict[str, Any]:
    """Return every seed's values, with the mean and its interval beside them."""
    # (seeds) or (lengths, seeds) for each row
    by_row = numbers.get("gaps", numbers.get("scores", []))
    means: list[Any] = []
    intervals: list[Any] = []
    for values in by_row:
        if not np.size(values):
            means.append([])
            intervals.append([])
            continue
        each = np.atleast_2d(values)
        means.append(each.mean(1))
        intervals.append([interval(seeds) for seeds in each])
    others = {
        name: value for name, value in numbers.items() if name not in ("entrants", "gaps", "scores")
    }
    return {
        "names": [entrant.name for entrant in numbers["entrants"]],
        "caption": caption,
        "values": by_row,
        "means": means,
        "intervals": intervals,
        **others,
    }
