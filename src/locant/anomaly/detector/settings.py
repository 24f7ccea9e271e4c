"""What can be asked of a detection, checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass

from locant._internal.checks import one_of, positive, whole_number
from locant.anomaly.detector.candidates import METHODS
from locant.anomaly.detector.thresholds import read_threshold
from locant.encodings.registry import canonical, describe

ENCODING = "rotary"
WHY = "rotary tied for the best in the study of anomalies and takes true times (docs/studies/anomaly.md)"


@dataclass(frozen=True)
class Settings:
    """All of it has defaults that suit an unknown series.

    method     "auto" (the self-test decides), or one of METHODS
    encodings  of the transformer; of several the self-test takes the best
    clean      the share of the series, from its beginning, to learn from; 1 is all of it, some of which may be anomalous
    season     in rows; found in the data by default
    smooth     standard deviation of the smoothing in rows; by default 1/80 of what is learnt from, at most 200
    threshold  "clean" (the edge of the clean scores), a rate of false alarms ("0.5%"), or a score
    steps      of training
    seed       of weights, batches, masks and injected faults

    >>> Settings(method="magic")
    Traceback (most recent call last):
    ValueError: detect was asked for method='magic'.
      Allowed: auto, transformer, harmonic, sub-pca, nearest-window
    """

    method: str = "auto"
    encodings: tuple[str, ...] = (ENCODING,)
    clean: float = 1.0
    season: int | None = None
    smooth: int | None = None
    threshold: str | float = "clean"
    steps: int = 150
    seed: int = 0

    def __post_init__(self) -> None:
        one_of("detect", "method", self.method, ("auto", *METHODS))
        if not self.encodings:
            raise ValueError("detect needs at least one encoding.")
        for name in self.encodings:
            describe(name)
        object.__setattr__(self, "encodings", tuple(dict.fromkeys(map(canonical, self.encodings))))
        if positive("detect", "clean", self.clean) > 1:
            raise ValueError(
                f"detect needs a share of the series from 0 to 1 for clean. Got {self.clean!r} instead."
            )
        if self.season is not None:
            whole_number("detect", "season", self.season, least=2)
        if self.smooth is not None:
            whole_number("detect", "smooth", self.smooth, least=0)
        read_threshold(self.threshold)
        whole_number("detect", "steps", self.steps)
