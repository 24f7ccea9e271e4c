"""Studies in the store, for the page: the table and the numbers of its pictures; and those that are being computed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from locant.explorer.answers import answer
from locant.figures.plots.colours import THEMES, dash
from locant.figures.plots.entrants import ENCODING, Entrant
from locant.lab.report import pictures_of_scores as scores
from locant.lab.report import study as told
from locant.lab.report.shown import Shown
from locant.lab.statistics.paired import interval
from locant.lab.store.open import open_store
from locant.lab.store.record import StudyRecord, read_record
from locant.lab.store.store import Store
from locant.lab.store.unfinished import in_flight, unfinished
from locant.lab.tasks.base import make_task


def studies(path: Path) -> bytes:
    """Every study that is kept, newest first; and what is being computed."""
    if not path.is_file():
        return answer({"studies": [], "unfinished": [], "in_flight": 0})
    store = open_store(path)
    kept = [
        {
            "id": one.id,
            "title": one.study["title"],
            "finished": one.finished,
            "runs": len(one.runs),
        }
        for one in store.studies()
    ]
    return answer(
        {
            "studies": kept,
            "unfinished": list(map(_so_far, unfinished(store))),
            "in_flight": in_flight(store),
        }
    )


def _so_far(group: Any) -> dict[str, Any]:
    try:
        metric = make_task(group.task, **group.options).metric
    except (ValueError, TypeError):  # of a task that is no longer there, or has other options now
        metric = ""
    rows = [
        {
            "name": name,
            "done": len(group.rows.get(name, [])),
            "failed": group.failed.get(name, 0),
            "mean": np.mean(
                [one[metric] for one in group.rows.get(name, []) if metric in one] or [np.nan]
            ),
        }
        for name in dict.fromkeys([*group.rows, *group.failed])
    ]
    return {
        "task": group.task,
        "metric": metric,
        "searched": group.searched,
        "last": group.last,
        "rows": rows,
    }


def study(path: Path, asked: str) -> bytes:
    """One study: verdict, table, and the numbers of its pictures, each with its caption."""
    return _told(*kept(path, asked))


def kept(path: Path, asked: str) -> tuple[Path, str, float]:
    """A study's place, its id, and when it was finished: while these stay, so do its numbers."""
    store = open_store(path)
    named = [one for one in store.studies() if asked in (one.id, one.name)]
    if not named:
        raise ValueError(f"no study {asked[:100]!r} is kept in {path}. Choose one of the list.")
    return store.path, named[0].id, named[0].finished


@lru_cache(maxsize=4)
def record_of(path: Path, study_id: str, _finished: float) -> tuple[Store, StudyRecord]:
    """A study, and the store it is in."""
    store = Store(path)
    return store, read_record(store, study_id)


@lru_cache(maxsize=64)
def _told(path: Path, study_id: str, finished: float) -> bytes:
    _, record = record_of(path, study_id, finished)
    shown = Shown(record)
    made = {
        "metric": scores.metric(shown),
        "forest": scores.forest(shown),
        "lengths": scores.lengths(shown),
    }
    title, facts = told.heading(record)
    return answer(
        {
            "id": record.id,
            "title": title,
            "facts": facts,
            "question": record.study.get("question", ""),
            "command": record.command,
            "finished": record.finished,
            "verdict": told.conclusion(record),
            "note": told.note(record),
            "heads": told.heads(record),
            "rows": [told.cells(row, record) for row in told.table(record)],
            "failures": [f"{row.name}: {why}" for row in record.rows for why in row.failures],
            "entrants": {row.name: _drawn(shown.drawn[row.name]) for row in record.rows},
            "attention": [
                row.name for row in record.rows if any(note.get("attention") for note in row.notes)
            ],
            "pictures": {
                name: _numbers(one.numbers, one.caption)
                for name, one in made.items()
                if one is not None
            },
        }
    )


def _drawn(one: Entrant) -> dict[str, Any]:
    colours = {name: one.colour(theme) for name, theme in THEMES.items()}
    broken = dash(one.encoding if one.role == ENCODING else one.name)
    return {
        "encoding": one.encoding,
        "role": one.role,
        "again": one.again,
        "colours": colours,
        "dash": broken,
    }


def _numbers(numbers: dict[str, Any], caption: str) -> dict[str, Any]:
    """Every seed's values, with the mean and its interval beside them."""
    each = numbers.get(
        "gaps", numbers.get("scores", [])
    )  # (seeds) or (lengths, seeds) for each row
    means = [np.atleast_2d(values).mean(1) if np.size(values) else [] for values in each]
    ends = [
        [interval(row) for row in np.atleast_2d(values)] if np.size(values) else []
        for values in each
    ]
    rest = {
        name: value for name, value in numbers.items() if name not in ("entrants", "gaps", "scores")
    }
    names = [one.name for one in numbers["entrants"]]
    return {
        "names": names,
        "caption": caption,
        "values": each,
        "means": means,
        "intervals": ends,
        **rest,
    }
