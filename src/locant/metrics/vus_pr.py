r"""VUS-PR: the volume under the precision-recall surface, which forgives scores that come a little early or late.

    label_ℓ(i)  = min(1, Σ over ranges of √(1 − distance/ℓ)  where 1 ≤ distance ≤ ℓ/2)     1 inside a range
    TP          = Σ label_ℓ over flagged points               P_ℓ = (Σ label + Σ label_ℓ) / 2
    precision   = TP / number of flagged points
    recall      = min(1, TP / P_ℓ) · share of ranges found
    VUS-PR      = mean over ℓ = 0..window of the area under precision over recall

Paparrizos et al. 2022, "Volume Under the Surface", PVLDB 15(11). Where the paper leaves a choice, or its formula and
the authors' later programs differ, this was chosen:

- ℓ is the whole buffer: ⌊ℓ/2⌋ points on each side, fewer at the ends of the series. Distance is counted in points from
  the nearest end of the range, the same on both sides. Where buffers overlap they add up, to 1 at most.
- P_ℓ is the paper's and does not depend on the threshold; recall is cut off at 1, which TP / P_ℓ may exceed.
- A range is found when a point of it or of its own buffer is flagged. Ranges stay apart when their buffers meet.
- The area is a sum of steps, as in average_precision and in the authors' later programs; the paper's straight lines
  would give constant scores more than one half. The volume is the plain mean over ℓ, so it stays in [0, 1].
- Every distinct score is a threshold. The authors' programs take 250 ranks: the same up to 250 points, then coarser.

With buffers no score reaches 1: a flag in a buffer costs precision, and none costs recall.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from locant.errors import whole_number
from locant.metrics._checked import Flags, Numbers, labels_and_scores
from locant.metrics._thresholds import Thresholds, thresholds
from locant.metrics.events import events

Ranges = list[tuple[int, int]]
BUFFER, SHARE = 100, 20  # points: the usual window is this long, or this part of a short series


def vus_pr(labels: ArrayLike, scores: ArrayLike, *, window: int) -> float:
    """The mean area under the range-based precision-recall curve over the buffer lengths 0..window.

    window  the longest buffer, in points: so many, half on each side of every anomalous range

    A peak one point late earns nothing without buffers but the level of chance, and a part of the credit with them:

    >>> event = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    >>> late = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    >>> [round(vus_pr(event, late, window=window), 3) for window in (0, 2, 4)]
    [0.1, 0.211, 0.343]
    >>> [round(vus_pr(event, event, window=window), 3) for window in (0, 2, 4)]
    [1.0, 0.895, 0.799]
    """
    true, values = labels_and_scores("vus_pr", labels, scores)
    window = whole_number("vus_pr", "window", window, least=0)
    ranges, every = events(true), thresholds(values)
    return float(np.mean([_area(true, values, ranges, every, length) for length in range(window + 1)]))


def vus(labels: ArrayLike, scores: ArrayLike) -> float:
    """VUS-PR with the usual window for a series of this length.

    >>> event, late = np.arange(40) == 20, np.arange(40) == 21
    >>> vus(event, late) == vus_pr(event, late, window=2)
    True
    """
    points = len(np.asarray(labels))
    return vus_pr(labels, scores, window=min(BUFFER, points // SHARE))


def _soft_labels(true: Flags, ranges: Ranges, length: int) -> Numbers:
    """1 inside each range, falling as √(1 − distance/length) over half the length on each side.

    >>> _soft_labels(np.array([0, 0, 0, 1, 0, 0], bool), [(3, 4)], 4).round(2).tolist()
    [0.0, 0.71, 0.87, 1.0, 0.87, 0.71]
    """
    soft, half = true.astype(float), length // 2
    taper = np.sqrt(1 - np.arange(1, half + 1) / max(length, 1))
    for start, stop in ranges:
        before, after = min(half, start), min(half, len(soft) - stop)
        soft[start - before : start] += taper[:before][::-1]
        soft[stop : stop + after] += taper[:after]
    return np.minimum(soft, 1.0)


def _area(true: Flags, values: Numbers, ranges: Ranges, every: Thresholds, length: int) -> float:
    """The area under the range-based precision-recall curve with one buffer length."""
    soft = _soft_labels(true, ranges, length)
    hits = every.total(soft)
    positives = (true.sum() + soft.sum()) / 2
    recall = np.minimum(hits / positives, 1.0) * _found(values, ranges, every, length // 2)
    return float(np.diff(recall, prepend=0.0) @ (hits / every.flagged))


def _found(values: Numbers, ranges: Ranges, every: Thresholds, half: int) -> Numbers:
    """The share of ranges with a flagged point, at each threshold: those whose peak is not below it."""
    peaks = np.sort([values[max(start - half, 0) : stop + half].max() for start, stop in ranges])
    return 1 - np.searchsorted(peaks, every.values, side="left") / len(peaks)
