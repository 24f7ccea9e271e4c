"""What a metric is computed from, and how a file of this folder declares one for tables.

METRIC = Metric("VUS-PR", lambda case: vus_pr(case.labels, case.scores, window=case.window))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from locant.anomaly.metrics._vectors import Flags, Numbers


class LabeledScores(NamedTuple):
    """The scores and flags of a series, and what a person marked in it."""

    labels: Flags  # (T,) True where anomalous
    scores: Numbers  # (T,)
    flags: Flags  # (T,) the points in a detected event
    windows: tuple[tuple[int, int], ...]  # the labeled events, half open
    window: int  # of VUS-PR, in points


class Metric(NamedTuple):
    """A metric as tables show it."""

    label: str
    compute: Callable[[LabeledScores], float]
    order: int = 100  # in tables, from the top
