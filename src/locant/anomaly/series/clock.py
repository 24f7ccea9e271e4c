"""The times of a stream: how they are written is settled by the first row."""

from __future__ import annotations

from typing import Any

import numpy as np

from locant.anomaly.series.cells import Marks, number
from locant.anomaly.series.cutting import SOURCE, Cut, as_table
from locant.anomaly.series.epochs import UNITS, moments, unit
from locant.anomaly.series.moment import moment
from locant.anomaly.series.stamps import PATTERNS, family
from locant.anomaly.series.times import read_times


class Clock:
    """Reads the time of one row after another."""

    def __init__(self, first: Cut, place: int, marks: Marks, said: list[str]) -> None:
        self.first, self.place, self.marks = first, place, marks
        raw = as_table([first], [place])
        self.times = read_times(raw, 0, marks)
        said += raw.said
        self.ticks = self.times.how.removesuffix(" since 1970")
        written = family(raw.columns[0], digits=True)
        self.regex = "" if written is None or self.ticks in UNITS else PATTERNS[written].regex

    def read(self, cut: Cut) -> Any:
        """The time of a row: quickly when it is plain, else beside the first one, so that what is wrong is told."""
        plain = self._plain(cut.cells[self.place])
        if plain is not None:
            return plain
        beside = read_times(as_table([self.first, cut], [self.place]), 0, self.marks)
        if beside.how != self.times.how:
            change = f"from {self.times.how} to {beside.how}"
            raise ValueError(
                f"{SOURCE}, line {cut.line:,}: the times change {change}. Keep to one."
            )
        return beside.values[-1]

    def _plain(self, cell: str | None) -> Any:
        if not self.times.dated:
            return number(cell, self.marks)
        if self.ticks not in UNITS:
            day_first = self.times.how.startswith("day")
            return moment(cell, self.regex, day_first=day_first, zoned=self.times.zoned)
        bare = (cell or "").strip()
        since = np.array([int(bare)]) if bare.isdecimal() and len(bare) < 20 else np.zeros(1)
        return (
            moments(since, self.ticks)[0].astype("datetime64[ns]")
            if unit(since) == self.ticks
            else None
        )
