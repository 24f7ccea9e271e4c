"""The pictures of a study: those that its runs have the numbers for, each with a caption."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from locant._internal.checks import one_of
from locant.figures.plots import FORMATS
from locant.figures.plots.saving import save
from locant.figures.plots.small import shrink
from locant.lab.report import run_pictures as runs
from locant.lab.report import score_pictures as scores
from locant.lab.report.study_view import Certificates, Picture, StudyView
from locant.lab.store.record import StudyRecord

MAKERS: dict[str, Callable[[StudyView], Picture | None]] = {  # in the order of a report
    "metric": scores.metric,
    "forest": scores.forest,
    "kinds": scores.kinds,
    "lengths": scores.lengths,
    "changes": scores.changes,
    "spread": runs.spread,
    "reconstruction": runs.reconstruction,
    "attention": runs.attention,
    "heads": runs.heads,
    "curves": runs.curves,
    "learnt": runs.learnt,
    "cost": scores.cost,
    "parameters": scores.parameters,
    "properties": runs.properties,
}


def pictures(record: StudyRecord, certificates: Certificates = ()) -> dict[str, Picture]:
    """Collect every picture that a study has the numbers for, by name, in the order of a report.

    certificates  of the encodings, for the property matrix: a study does not measure them
    """
    view = StudyView(record, certificates)
    made = {name: make(view) for name, make in MAKERS.items()}
    return {name: picture for name, picture in made.items() if picture is not None}


def write_pictures(
    record: StudyRecord,
    folder: Path,
    formats: Iterable[str] = ("png",),
    *,
    theme: str = "light",
    certificates: Certificates = (),
) -> list[Path]:
    """Draw every picture of a study into a folder; the same record gives the same bytes."""
    endings = [one_of("write_pictures", "format", ending, FORMATS) for ending in formats]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, picture in pictures(record, certificates).items():
        axes = picture.draw(theme)
        for ending in endings:
            path = save(axes, folder / f"{name}.{ending}", title=picture.caption)
            written.append(shrink(path))
    return written
