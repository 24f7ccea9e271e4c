"""How well scores and flags agree with labels: pure functions of arrays, one a file. No torch.

A file that declares `METRIC` (see base.py) appears in the tables of `locant detect`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locant.anomaly.metrics.base import Metric


def table() -> list[Metric]:
    """List the metrics that files of this folder declare, in the order of tables.

    >>> [metric.label for metric in table()]
    ['VUS-PR', 'average precision', 'AUC-ROC', 'affiliation F1', 'event recall']
    """
    found = []
    for name in names():
        metric = getattr(import_module(f"{__name__}.{name}"), "METRIC", None)
        if metric is not None:
            found.append(metric)
    return sorted(found, key=lambda metric: metric.order)


def names() -> list[str]:
    """List the files of this folder.

    >>> names()[:3]
    ['affiliation', 'auc_roc', 'average_precision']
    """
    files = [path for folder in __path__ for path in Path(folder).glob("[a-z]*.py")]
    return sorted({path.stem for path in files} - {"base"})
