"""A study as its pictures need it: which entrants are drawn, in which order and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from locant.figures.plots import gallery
from locant.figures.plots.entrants import BASELINE, CONTROL, ENCODING, Entrant
from locant.figures.plots.frame import Frame
from locant.lab.report.rendering import best_first
from locant.lab.store.record import EntrantRecord, StudyRecord
from locant.lab.tasks import UNLABELLED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Certificates = Sequence[Mapping[str, Any]]  # as Certificate.to_dict gives them
UNITS = {  # of the series of a task
    "anomaly": "standard deviations",
    "real-anomalies": "standard deviations",
}
DATA_NAMES = {UNLABELLED: "labels that no entrant saw"}  # what records call otherwise
CEILING_NAMES = {  # likewise
    "by T5 buckets, ends unseen": "by T5 buckets alone, with the sequence ends hidden",
    "by distances, ends unseen": "by distances alone, with the sequence ends hidden",
}


class Picture(NamedTuple):
    """The file of locant.figures.plots that draws a picture, its numbers, and its caption."""

    plot: str
    numbers: dict[str, Any]
    caption: str

    def draw(self, theme: str = "light") -> tuple[Axes, ...]:
        """Draw the picture in a theme and return its axes."""
        return gallery.draw(self.plot, self.numbers, Frame(theme=theme))


class StudyView:
    """The entrants with a score in every run, best first; the rest; and how each is drawn."""

    def __init__(self, record: StudyRecord, certificates: Certificates = ()) -> None:
        self.record = record
        self.facts = record.facts
        self.certificates = certificates
        self.metric = record.facts.metric
        self.better = "higher" if record.facts.higher_is_better else "lower"
        self.unit = UNITS.get(record.settings.task, "units of the series")
        self.complete: list[EntrantRecord] = []
        for entrant in best_first(record):
            if not entrant.failures and _all_finite(entrant.scores(self.metric)):
                self.complete.append(entrant)
        self.incomplete = [one for one in record.entrants if one not in self.complete]
        self.drawn: dict[str, Entrant] = {}
        for entrant in record.entrants:  # in the study's order: the first of an encoding is filled
            self.drawn[entrant.name] = self._drawn(entrant)

    def _drawn(self, entrant: EntrantRecord) -> Entrant:
        role = ENCODING
        if entrant.name in self.record.controls:
            role = CONTROL
        elif entrant.name in self.record.settings.baselines:
            role = BASELINE
        before = [one.encoding for one in self.drawn.values() if one.role == ENCODING]
        again = role == ENCODING and entrant.encoding in before
        return Entrant(entrant.name, entrant.encoding, role, again)

    def entrants(self, entrants: Iterable[EntrantRecord]) -> list[Entrant]:
        """Return how each entrant is drawn."""
        return [self.drawn[entrant.name] for entrant in entrants]

    def having(self, *metrics: str) -> list[EntrantRecord]:
        """List the complete entrants that have all of these metrics."""
        found = []
        for entrant in self.complete:
            if all(_all_finite(entrant.scores(metric)) for metric in metrics):
                found.append(entrant)
        return found

    def metrics(self, prefix: str) -> list[str]:
        """List the metrics with this prefix, in the order of the study, then of the runs."""
        known: dict[str, None] = {}
        for entrant in self.complete:
            known |= dict.fromkeys(entrant.metrics)
        details = [name for name in self.record.settings.details if name in known]
        names = dict.fromkeys([*details, *known])
        return [name for name in names if name.startswith(prefix)]

    def interval_words(self, entrants: Sequence[EntrantRecord], *, dots: bool = False) -> str:
        """Say what stands for an entrant: a mean with its interval; a single run has none."""
        if max(len(entrant.seeds) for entrant in entrants) < 2:
            return "one value per entrant, without an interval"
        text = "the mean with its 95 % t interval"
        return f"{text}, every {self.record.one} as a dot" if dots else text

    def count_words(self, entrants: Sequence[EntrantRecord]) -> str:
        """Say over how many seeds, or series: the end of a caption."""
        count = max(len(entrant.seeds) for entrant in entrants)
        return f"{count} {self.record.one if count == 1 else self.record.unit}"

    def single_words(self, seed: int) -> str:
        """Say which seed, or series, an example is from."""
        return f"1 {self.record.one} ({self.record.called(seed)})"

    @property
    def missing_words(self) -> str:
        """Name the entrants that a picture leaves out: the end of a caption."""
        if not self.incomplete:
            return ""
        names = ", ".join(entrant.name for entrant in self.incomplete)
        return f"; without the entrants with failed runs ({names})"

    @property
    def tested_on(self) -> str:
        """Name the data on which the deciding score was computed."""
        return tested_on(self.record)

    def examples(self, note: str) -> tuple[list[tuple[EntrantRecord, Any]], int]:
        """Collect what entrants kept of one and the same example, and the seed of that example."""
        kept = []
        for entrant in self.complete:
            kept.append((entrant, dict(zip(entrant.seeds, entrant.notes, strict=True))))
        seeds = [seed for _, notes in kept for seed, own in notes.items() if own.get(note)]
        if not seeds:
            return [], 0
        seed = max(dict.fromkeys(seeds), key=seeds.count)  # the first that most entrants have
        found = []
        for entrant, notes in kept:
            if notes.get(seed, {}).get(note):
                found.append((entrant, notes[seed][note]))
        return found, seed


def tested_on(record: StudyRecord) -> str:
    """Name the data on which the deciding score of a study was computed."""
    return DATA_NAMES.get(record.facts.tested_on, record.facts.tested_on)


def ceiling_names(record: StudyRecord) -> dict[str, float]:
    """Return the ceilings of a study's task under names that explain themselves."""
    ceilings = record.facts.ceilings.items()
    return {CEILING_NAMES.get(name, name): value for name, value in ceilings}


def _all_finite(values: np.ndarray) -> bool:
    return bool(len(values)) and bool(np.isfinite(values).all())
