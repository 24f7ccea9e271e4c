"""A detector: one method that has learnt, and all that is needed to judge new rows by it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from locant.anomaly.detector.calibration import Calibration
from locant.anomaly.detector.candidates import Candidate
from locant.anomaly.detector.clock import Clock
from locant.anomaly.detector.detection import Chosen, Detection, Trial
from locant.anomaly.detector.finding import find_events
from locant.anomaly.detector.method import Method, Stretch
from locant.anomaly.detector.scoring import Judged, judge
from locant.anomaly.detector.threads import one_thread
from locant.anomaly.metrics.smoothing import smooth
from locant.anomaly.series import Series
from locant.lab.tasks._units import Units

SEEN = 128  # rows, at least, that a row of a stream is judged by


@dataclass(frozen=True, eq=False)
class Detector:
    """What was learnt from clean data. `detect` judges any series with the same columns."""

    names: tuple[str, ...]
    candidate: Candidate
    method: Method
    units: Units
    clock: Clock
    calibration: Calibration
    chosen: Chosen
    trials: tuple[Trial, ...]
    recent: Stretch  # the last rows that were learnt from, in their own units: a stream goes on from them

    def detect(self, series: Series) -> Detection:
        """Scores and events of a series that was not learnt from."""
        self.check(series.names, len(series.values))
        at = self.clock.at(series.times, len(series.values))
        with one_thread():
            return self.told(
                series, judge(self.method, self.units, series.values, at, self.calibration.limit)
            )

    def told(self, series: Series, judged: Judged) -> Detection:
        """What was judged, as scores and events."""
        known, width = self.calibration, self.chosen.smooth
        away = judged.away / known.usual
        by_column, expected = smooth(away, width), self.units.back(judged.expected)
        found = find_events(
            series, expected, by_column, away, known.threshold.value, known.odd, width
        )
        return Detection(
            series,
            by_column.max(1),
            by_column,
            expected,
            known.threshold,
            found,
            self.chosen,
            self.trials,
            self,
        )

    def with_threshold(self, asked: str | float) -> Detector:
        """The same detector with another threshold: "clean", a rate ("0.5%"), or a score."""
        return replace(self, calibration=self.calibration.with_threshold(asked, self.chosen.smooth))

    def check(self, names: tuple[str, ...], rows: int) -> None:
        """Refuse a series that this detector knows nothing about."""
        if names != self.names:
            raise ValueError(
                f"this detector knows the columns {', '.join(self.names)}; the series has {', '.join(names)}.\n"
                f"  Choose them in this order: --columns {','.join(self.names)}; or learn anew, without --model."
            )
        if rows < self.method.least:
            raise ValueError(
                f"this detector needs at least {self.method.least} rows, one window. Got {rows}."
            )
