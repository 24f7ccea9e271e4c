"""A record as pictures need it: who its rows are, which come first, and which have the numbers for a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from locant.figures.plots.entrants import CONTROL, ENCODING, PLAIN_METHOD, Entrant
from locant.lab.report.details import best_first
from locant.lab.store.record import RowRecord, StudyRecord
from locant.lab.tasks import UNSEEN

Papers = Sequence[Mapping[str, Any]]  # certificates, as Certificate.to_dict gives them
UNITS = {
    "anomaly": "standard deviations",
    "real-anomalies": "standard deviations",
}  # of the series of a task


class Shown:
    """The rows with a score in every run, best first; the rest; and how each is drawn."""

    def __init__(self, record: StudyRecord, certificates: Papers = ()) -> None:
        self.record, self.facts, self.certificates = record, record.facts, certificates
        self.metric: str = record.facts["metric"]
        self.better = "higher" if record.facts["higher_is_better"] else "lower"
        self.unit = UNITS.get(record.study.get("task", ""), "units of the series")
        self.rows = [
            row
            for row in best_first(record)
            if not row.failures and _there(row.scores(self.metric))
        ]
        self.rest = [row for row in record.rows if row not in self.rows]
        self.drawn: dict[str, Entrant] = {}
        for row in (
            record.rows
        ):  # in the order of the study, so that the first of an encoding is the usual one
            role = self._role(row.name)
            again = any(
                (one.encoding, one.role) == (row.encoding, ENCODING) for one in self.drawn.values()
            )
            self.drawn[row.name] = Entrant(row.name, row.encoding, role, again and role == ENCODING)

    def _role(self, name: str) -> str:
        if name in self.record.controls:
            return CONTROL
        return PLAIN_METHOD if name in self.record.study.get("baselines", ()) else ENCODING

    def entrants(self, rows: Iterable[RowRecord]) -> list[Entrant]:
        return [self.drawn[row.name] for row in rows]

    def having(self, *metrics: str) -> list[RowRecord]:
        """The rows with all of these metrics."""
        return [row for row in self.rows if all(_there(row.scores(metric)) for metric in metrics)]

    def metrics(self, start: str) -> list[str]:
        """The metrics whose names start so, in the order of the study, then of the runs."""
        known = dict.fromkeys(name for row in self.rows for name in row.metrics)
        names = [name for name in self.record.study.get("details", ()) if name in known]
        return list(dict.fromkeys(name for name in (*names, *known) if name.startswith(start)))

    def bar(self, rows: Sequence[RowRecord], *, dots: bool = False) -> str:
        """What stands for a row: a mean with its interval; a single run has none."""
        if max(len(row.seeds) for row in rows) < 2:
            return "one value a row, without an interval"
        return "the mean with its 95 % t interval" + (
            f", every {self.record.one} as a dot" if dots else ""
        )

    def counted(self, rows: Sequence[RowRecord]) -> str:
        """Over how many seeds, or series: the end of a caption."""
        count = max(len(row.seeds) for row in rows)
        return f"{count} {self.record.one if count == 1 else self.record.unit}"

    def single(self, seed: int) -> str:
        """The one that an example is of."""
        return f"1 {self.record.one} ({self.record.called(seed)})"

    @property
    def judged_on(self) -> str:
        """What the score that decides is taken on."""
        return self.facts.get("tested_on", UNSEEN)

    def examples(self, note: str) -> tuple[list[tuple[RowRecord, Any]], int]:
        """Rows with what they kept of one and the same example, and the seed of that example."""
        kept = [(row, dict(zip(row.seeds, row.notes, strict=True))) for row in self.rows]
        seeds = [seed for _, notes in kept for seed, one in notes.items() if one.get(note)]
        if not seeds:
            return [], 0
        seed = max(dict.fromkeys(seeds), key=seeds.count)  # the first of those that most rows have
        return [
            (row, found) for row, notes in kept if (found := notes.get(seed, {}).get(note))
        ], seed

    @property
    def without(self) -> str:
        """Who is missing in a picture of complete rows; the end of a caption."""
        return (
            f"; without the rows of failed runs ({', '.join(row.name for row in self.rest)})"
            if self.rest
            else ""
        )


def _there(values: np.ndarray) -> bool:
    return bool(len(values)) and bool(np.isfinite(values).all())
