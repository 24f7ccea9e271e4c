"""The settings of a detection, checked before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from locant._internal.checks import one_of, positive, whole_number
from locant.anomaly.detector import methods
from locant.anomaly.detector.threshold import parse_threshold
from locant.encodings.registry import canonical, describe

ENCODING = "rotary"
WHY = (
    "rotary tied for the best in the study of anomalies and takes true times "
    "(docs/studies/anomaly.md)"
)


@dataclass(frozen=True)
class Settings:
    """The settings of a detection, with defaults that suit an unknown series.

    method     "auto" (the self-test decides), or the name of a method
    encodings  of the transformer; of several the self-test takes the best
    clean      the share of the series, from its beginning, to learn from; 1 is all of it, some of
               which may be anomalous
    season     in rows; found in the data by default
    smooth     standard deviation of the smoothing in rows; by default 1/80 of the rows that are
               learned from, at most 200
    threshold  "clean" (the edge of the clean scores), a rate of false alarms ("0.5%"), or a score
    steps      of training
    seed       of weights, batches, masks and injected faults

    >>> Settings(method="magic")
    Traceback (most recent call last):
    ValueError: detect was asked for method='magic'.
      Allowed: auto, transformer, harmonic, sub-pca, nearest-window
    """

    method: str = methods.AUTO
    encodings: tuple[str, ...] = (ENCODING,)
    clean: float = 1.0
    season: int | None = None
    smooth: int | None = None
    threshold: str | float = "clean"
    steps: int = 150
    seed: int = 0

    def __post_init__(self) -> None:
        one_of("detect", "method", self.method, (methods.AUTO, *methods.names()))
        asked = (self.encodings,) if isinstance(self.encodings, str) else self.encodings
        if not asked:
            raise ValueError("detect needs at least one encoding.")
        for name in asked:
            describe(name)
        object.__setattr__(self, "encodings", tuple(dict.fromkeys(map(canonical, asked))))
        if positive("detect", "clean", self.clean) > 1:
            raise ValueError(
                "detect needs a share of the series from 0 to 1 for clean. "
                f"Got {self.clean!r} instead."
            )
        if self.season is not None:
            whole_number("detect", "season", self.season, least=2)
        if self.smooth is not None:
            whole_number("detect", "smooth", self.smooth, least=0)
        parse_threshold(self.threshold)
        whole_number("detect", "steps", self.steps)


class SettingsOptions(TypedDict, total=False):
    """The fields of Settings as keywords of `detect`."""

    method: str
    encodings: str | Sequence[str]
    clean: float
    season: int | None
    smooth: int | None
    threshold: str | float
    steps: int
    seed: int
