"""What is usual: how far clean points are from what was expected, and from where on that counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.detection import Threshold
from locant.anomaly.detector.held_out import Block
from locant.anomaly.detector.method import Floats
from locant.anomaly.detector.scoring import HIDE_ABOVE, usual
from locant.anomaly.detector.thresholds import CleanScores, set_threshold
from locant.anomaly.metrics.smoothing import smooth
from locant.lab.tasks._units import Units

ODD = 0.99  # a point that deviates more than this share of the clean ones is odd


class Calibration(NamedTuple):
    """From deviations of the rows that were learnt from."""

    usual: Floats  # (F,) the usual deviation of each column
    limit: float  # deviations above this are hidden from their neighbours in the second pass
    odd: float  # usual deviations from which a point of an event counts as odd
    scores: CleanScores  # smoothed: another threshold can be set from them
    threshold: Threshold

    @classmethod
    def of(
        cls,
        blocks: Sequence[Block],
        fitted: Floats | None,
        units: Units,
        width: int,
        threshold: str | float,
    ) -> Calibration:
        """Learn what is usual, and judge held-out blocks as new rows will be judged.

        fitted  deviations (T,F) of all rows, which were learnt from and may hold anomalies; None where all are clean
        width   of the smoothing
        """
        first = (
            np.concatenate([block.away(units) for block in blocks]) if fitted is None else fitted
        )
        limit = float(np.quantile(first.max(1), HIDE_ABOVE))
        held_out = [block.away(units, limit) for block in blocks]
        away = np.concatenate(held_out) if fitted is None else fitted
        size = usual(away)
        scores = CleanScores(
            np.concatenate([smooth(block / size, width).max(1) for block in held_out]),
            None if fitted is None else smooth(fitted / size, width).max(1),
        )
        odd = float(np.quantile((away / size).max(1), ODD))
        return cls(size, limit, odd, scores, set_threshold(threshold, scores, width))

    def with_threshold(self, asked: str | float, width: int) -> Calibration:
        """The same with another threshold."""
        return self._replace(threshold=set_threshold(asked, self.scores, width))
