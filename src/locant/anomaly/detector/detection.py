"""What a detection gives: scores, events, what was chosen, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from locant.anomaly.detector.method import Flags, Floats
from locant.anomaly.series import Series

if TYPE_CHECKING:
    from locant.anomaly.detector.detector import Detector


@dataclass(frozen=True)
class Event:
    """A stretch that does not look like the rest: the rows start..stop−1."""

    start: int
    stop: int
    score: float  # the largest in it, in units of the usual deviation
    peak: int  # the row that deviates most
    columns: tuple[str, ...]  # those at fault, the worst first
    value: float  # of the worst column at the peak
    expected: float  # what should have stood there
    start_time: Any = None  # datetime64[ns] or float, None without times
    end_time: Any = None  # of its last row
    peak_time: Any = None


@dataclass(frozen=True)
class Trial:
    """One line of the self-test: how well a candidate found faults that were put into held-out data."""

    method: str
    encoding: str  # "" for methods that have none
    found: dict[str, float]  # average precision by kind of fault
    mean: float
    seconds: float

    @property
    def name(self) -> str:
        """Method, and encoding where there is one.

        >>> Trial("transformer", "rotary", {}, 0.9, 2.0).name
        'transformer (rotary)'
        """
        return f"{self.method} ({self.encoding})" if self.encoding else self.method


@dataclass(frozen=True)
class Threshold:
    """Where scores begin to count as events, where it comes from, and how often clean rows were above it."""

    value: float
    origin: str
    measured: float | None  # the share of held-out rows above it, None when they are too few
    asked: float | None  # the rate of false alarms that was asked for, if one was
    rows: int  # held-out rows, on which false alarms were counted
    independent: int  # about so many independent scores they have after smoothing
    known_clean: bool  # whether the user said that all these rows are clean

    @property
    def sentence(self) -> str:
        """The threshold and its rate of false alarms: what was asked for, what was measured, on how many rows.

        >>> Threshold(3.2, "from the rate that was asked for", 0.026, 0.005, 9800, 9800, True).sentence
        'Threshold: 3.2. False alarms: asked 0.5 %, measured 2.6 % on 9,800 held-out rows.'
        >>> Threshold(4.0, "given", None, None, 60, 5, True).sentence
        'Threshold: 4 (given). False alarms: not measured, 60 held-out rows are too few at this smoothing.'
        """
        origin = f" ({self.origin})" if self.asked is None else ""
        wanted = "" if self.asked is None else f"asked {_percent(self.asked)}, "
        told = f"Threshold: {self.value:.3g}{origin}. False alarms: {wanted}"
        if self.measured is None:
            return f"{told}not measured, {self.rows:,} held-out rows are too few at this smoothing."
        told += f"measured {_percent(self.measured)} on {self.rows:,} held-out rows."
        if min(self.measured, self.asked or 1.0) < 1 / self.independent:
            told += f" Smoothing leaves about {self.independent} independent scores: too few for so small a rate."
        return (
            told
            if self.known_clean
            else f"{told} Anomalies among these rows count as false alarms."
        )


def _percent(share: float) -> str:
    """
    >>> _percent(0.005), _percent(0.0), _percent(0.12345)
    ('0.5 %', '0 %', '12 %')
    """
    return f"{100 * share:.2g} %"


@dataclass(frozen=True)
class Chosen:
    """What was chosen, and the reasons in a sentence each."""

    method: str
    encoding: str
    season: int | None  # in rows
    smooth: int  # standard deviation of the smoothing, in rows
    real_times: bool  # whether true times are positions
    why: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Detection:
    """Scores for every point, and the events that they show."""

    series: Series
    scores: Floats  # (T,) the largest over columns
    by_column: Floats  # (T,F)
    expected: Floats  # (T,F) in the series' own units
    threshold: Threshold
    events: tuple[Event, ...]  # in the order of time
    chosen: Chosen
    self_test: tuple[Trial, ...]  # the best first
    detector: Detector  # to be saved, or to judge other series

    @property
    def flags(self) -> Flags:
        """Which points are in an event, (T,)."""
        inside = self.scores > float("inf")
        for event in self.events:
            inside[event.start : event.stop] = True
        return inside
