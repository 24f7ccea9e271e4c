"""Calibration: the scale of residuals on clean rows, and the threshold that follows from it.

`threshold` counts false alarms on two held-out blocks that are made here, each scored by a method
that learned from all rows on its other side. The last block is the self-test's, so this costs one
more fit. The rows to learn from stay in one piece: a gap would break a season.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from locant.anomaly.detector.methods import Candidate
from locant.anomaly.detector.methods.base import Method, Progress
from locant.anomaly.detector.residuals import (
    HIDE_ABOVE,
    compute_residuals,
    fit_method,
    residual_scale,
    row_maximum,
)
from locant.anomaly.detector.threshold import (
    CleanScores,
    Threshold,
    check_rate,
    set_threshold,
)
from locant.anomaly.detector.time_grid import Floats, Layout

HELD_OUT = 0.3  # share of the rows: the first ones here, the last ones in the self-test
CONTEXT = 64  # rows beside a block, at least, that it is scored with


class HeldOutBlock(NamedTuple):
    """Held-out rows with the rows beside them, and a method that learned from none of them."""

    method: Method
    values: Floats  # (T,F)
    positions: Floats  # (T,)
    start: int  # the rows start..stop−1 are held out
    stop: int

    def residual(self, layout: Layout, limit: float | None = None) -> Floats:
        """Score the block as a new series; return the residuals of its held-out rows, (rows, F)."""
        found = compute_residuals(self.method, layout, self.values, self.positions, limit)
        return found.residual[self.start : self.stop]


def hold_out_first_rows(
    best: Candidate, layout: Layout, clean: Floats, positions: Floats, progress: Progress
) -> HeldOutBlock:
    """Hold out the first rows, and learn from the others."""
    cut = int(HELD_OUT * len(clean))
    method = best.make(partial(progress, f"measuring false alarms: {best.name}"))
    fit_method(method, layout, clean[cut:], positions[cut:])
    stop = cut + max(method.min_rows, CONTEXT)
    return HeldOutBlock(method, clean[:stop], positions[:stop], 0, cut)


class Calibration(NamedTuple):
    """What is known from the residuals of the rows that were learned from."""

    scale: Floats  # (F,) the scale of the residuals of each column
    limit: float  # rows with larger residuals are hidden in the second pass
    scores: tuple[CleanScores, ...]  # of each scale; another threshold can be set from them
    threshold: Threshold

    @classmethod
    def of(
        cls,
        blocks: Sequence[HeldOutBlock],
        fitted: Floats | None,
        layout: Layout,
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
            first = np.concatenate([block.residual(layout) for block in blocks])
        limit = float(np.quantile(row_maximum(first), HIDE_ABOVE))
        held_out = [block.residual(layout, limit) for block in blocks]
        scale = residual_scale(np.concatenate(held_out) if fitted is None else fitted)
        blocks_of_rows = [block / scale for block in held_out]
        all_rows = None if fitted is None else fitted / scale
        scores = [CleanScores.of(blocks_of_rows, all_rows, 0)]
        if width:  # a stretch is more than its spikes: none counts for more than the edge
            largest = scores[0].spike_edge()
            blocks_of_rows = [np.minimum(block, largest) for block in blocks_of_rows]
            all_rows = None if all_rows is None else np.minimum(all_rows, largest)
            scores.insert(0, CleanScores.of(blocks_of_rows, all_rows, width))
        return cls(scale, limit, tuple(scores), set_threshold(threshold, scores, width))

    def with_threshold(self, asked: str | float, width: int) -> Calibration:
        """Return the same calibration with another threshold."""
        check_rate(asked, len(self.scores[0].held_out))
        return self._replace(threshold=set_threshold(asked, self.scores, width))
