"""Anomaly detection with scikit-learn's words: fit, decision_function, predict, as PyOD has them.

>>> import numpy as np
>>> clean = np.sin(np.arange(400) / 4)[:, None]
>>> new = np.sin(np.arange(400, 600) / 4)[:, None]
>>> new[100:104] += 1.5
>>> model = SeriesDetector(method="harmonic").fit(clean)
>>> np.flatnonzero(model.predict(new) == -1).tolist()
[100, 101, 102, 103]
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.detector.detection import Detection
from locant.anomaly.detector.pipeline import detect
from locant.anomaly.detector.settings import Settings
from locant.anomaly.detector.time_grid import Flags, Floats

OUTLIER, INLIER = -1, 1  # as scikit-learn's outlier detectors answer


class SeriesDetector:
    """A detector that learns from clean rows X (T,F) in the order of time, and scores others.

    X is a numpy array or a pandas or polars frame; a column of dates in it is the time. The options
    are those of `Settings`. All rows of `fit` are taken to be clean.
    """

    def __init__(
        self,
        method: str = "auto",
        encodings: str | tuple[str, ...] = "rotary",
        season: int | None = None,
        smooth: int | None = None,
        threshold: str | float = "clean",
        steps: int = 150,
        seed: int = 0,
    ) -> None:
        self.method = method
        self.encodings = encodings
        self.season = season
        self.smooth = smooth
        self.threshold = threshold
        self.steps = steps
        self.seed = seed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options by name."""
        return {name: getattr(self, name) for name in _OPTIONS}

    def set_params(self, **options: Any) -> Self:
        """Set options by name."""
        unknown = sorted(set(options) - set(_OPTIONS))
        if unknown:
            raise ValueError(
                f"SeriesDetector has no option {', '.join(unknown)}. It has: {', '.join(_OPTIONS)}."
            )
        for name, value in options.items():
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from clean rows (T,F); y is ignored."""
        found = detect(X, Settings(**self.get_params()), train=X)
        self.detector_ = found.detector
        self.n_features_in_ = len(found.series.names)
        self.offset_ = -found.threshold.value
        self.decision_scores_ = found.scores  # of the rows that were learned from, as PyOD names it
        return self

    def detect(self, X: Any) -> Detection:
        """Detect anomalies in new rows (T,F), with events, predictions and all that was chosen."""
        if not hasattr(self, "detector_"):
            raise ValueError("this SeriesDetector has not learned yet: call fit(X) first.")
        return detect(X, model=self.detector_)

    def __sklearn_tags__(self) -> Any:
        """Describe the detector to scikit-learn, which alone asks for this."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type="outlier_detector",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True),
        )

    def score_samples(self, X: Any) -> Floats:
        """Score new rows, (T,): the higher, the more normal."""
        return -self.detect(X).scores

    def decision_function(self, X: Any) -> Floats:
        """Score new rows, (T,): negative where they are anomalous, as in scikit-learn."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Answer −1 for the rows of events and 1 for all others, (T,)."""
        flags: Flags = self.detect(X).flags
        return np.where(flags, OUTLIER, INLIER)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Learn from rows that may hold anomalies, and answer for the same rows, (T,)."""
        found = detect(X, Settings(**self.get_params()))
        self.detector_, self.offset_ = found.detector, -found.threshold.value
        self.n_features_in_, self.decision_scores_ = len(found.series.names), found.scores
        return np.where(found.flags, OUTLIER, INLIER)


_OPTIONS = ("method", "encodings", "season", "smooth", "threshold", "steps", "seed")
