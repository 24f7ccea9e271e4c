"""Calibration: the scale of residuals on clean rows, and the threshold that follows from it.

False alarms are counted on two held-out blocks, each scored by a method that learned from all rows
on its other side. The last block is the self-test's, so this costs one more fit. The rows to learn
from stay in one piece: a gap would break a season.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.methods import Candidate
from locant.anomaly.detector.methods.base import Method, Progress
from locant.anomaly.detector.residuals import HIDE_ABOVE, compute_residuals, residual_scale
from locant.anomaly.detector.segments import Floats, Segment
from locant.anomaly.detector.threshold import CleanScores, Threshold, set_threshold
from locant.anomaly.metrics.smoothing import smooth
from locant.anomaly.series.units import Units

OUTLIER = 0.99  # quantile of the clean residuals above which a row of an event is an outlier
HELD_OUT = 0.3  # share of the rows: the first ones here, the last ones in the self-test
CONTEXT = 64  # rows beside a block, at least, that it is scored with


class HeldOutBlock(NamedTuple):
    """Held-out rows with the rows beside them, and a method that learned from none of them."""

    method: Method
    values: Floats  # (T,F)
    positions: Floats  # (T,)
    start: int  # the rows start..stop−1 are held out
    stop: int

    def residual(self, units: Units, limit: float | None = None) -> Floats:
        """Score the block as a new series; return the residuals of its held-out rows, (rows, F)."""
        found = compute_residuals(self.method, units, self.values, self.positions, limit)
        return found.residual[self.start : self.stop]


def hold_out_first_rows(
    best: Candidate, units: Units, clean: Floats, positions: Floats, progress: Progress
) -> HeldOutBlock:
    """Hold out the first rows, and learn from the others."""
    cut = int(HELD_OUT * len(clean))
    method = best.make(partial(progress, f"measuring false alarms: {best.name}"))
    method.fit(Segment(units.seen(clean), positions).part(cut, len(clean)))
    stop = cut + max(method.min_rows, CONTEXT)
    return HeldOutBlock(method, clean[:stop], positions[:stop], 0, cut)


class Calibration(NamedTuple):
    """What is known from the residuals of the rows that were learned from."""

    scale: Floats  # (F,) the scale of the residuals of each column
    limit: float  # rows with larger residuals are hidden in the second pass
    outlier: float  # scaled residual from which a row of an event counts as an outlier
    scores: CleanScores  # smoothed; another threshold can be set from them
    threshold: Threshold

    @classmethod
    def of(
        cls,
        blocks: Sequence[HeldOutBlock],
        fitted: Floats | None,
        units: Units,
        width: int,
        threshold: str | float,
    ) -> Calibration:
        """Learn the scale of residuals, and score held-out blocks as new rows will be scored.

        fitted  residuals (T,F) of all rows, which were learned from and may hold anomalies;
                None where all rows are clean
        width   of the smoothing
        """
        first = fitted
        if first is None:
            first = np.concatenate([block.residual(units) for block in blocks])
        limit = float(np.quantile(first.max(1), HIDE_ABOVE))
        held_out = [block.residual(units, limit) for block in blocks]
        residual = np.concatenate(held_out) if fitted is None else fitted
        scale = residual_scale(residual)
        scores = CleanScores(
            np.concatenate([smooth(block / scale, width).max(1) for block in held_out]),
            None if fitted is None else smooth(fitted / scale, width).max(1),
        )
        outlier = float(np.quantile((residual / scale).max(1), OUTLIER))
        return cls(scale, limit, outlier, scores, set_threshold(threshold, scores, width))

    def with_threshold(self, asked: str | float, width: int) -> Calibration:
        """Return the same calibration with another threshold."""
        return self._replace(threshold=set_threshold(asked, self.scores, width))
