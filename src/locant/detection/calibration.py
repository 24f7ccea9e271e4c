"""What is usual: how far clean points are from what was expected, and from where on that counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from locant.detection.detection import Threshold
from locant.detection.method import Floats
from locant.detection.scoring import HIDE_ABOVE, usual
from locant.detection.thresholds import set_threshold
from locant.metrics.smoothing import smooth

ODD = 0.99  # a point that deviates more than this share of the clean ones is odd


class Calibration(NamedTuple):
    """From deviations of clean points, some of which may be anomalies all the same."""

    usual: Floats  # (F,) the usual deviation of each column
    limit: float  # deviations above this are hidden from their neighbours in the second pass
    odd: float  # usual deviations from which a point of an event counts as odd
    scores: Floats  # (some,) smoothed: another threshold can be set from them
    threshold: Threshold

    @classmethod
    def of(cls, away: Floats, width: int, threshold: str | float) -> Calibration:
        """away (T,F) in units of the clean part; width of the smoothing."""
        size = usual(away)
        scores = smooth(away / size, width).max(1)
        limit = float(np.quantile(away.max(1), HIDE_ABOVE))
        odd = float(np.quantile((away / size).max(1), ODD))
        return cls(size, limit, odd, scores, set_threshold(threshold, scores, width))

    def with_threshold(self, asked: str | float, width: int) -> Calibration:
        """The same with another threshold."""
        return self._replace(threshold=set_threshold(asked, self.scores, width))
