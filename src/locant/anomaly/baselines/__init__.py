"""One file, one plain detector of anomalies in series: what a model must beat. No torch."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from locant._internal.checks import did_you_mean


class Baseline(Protocol):
    """What every file offers. Some also have `fit`, with the same arguments: what was expected, (T, F)."""

    def score(self, lead: np.ndarray, series: np.ndarray) -> np.ndarray:
        """How anomalous each point of the series is, (T,), seen from the clean stretch just before it."""


def names() -> list[str]:
    """The detectors that there are.

    >>> names()
    ['distance', 'harmonic', 'local_quadratic', 'nearest_window', 'rolling_median', 'second_difference', 'sub_pca']
    """
    return sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
    )


def shown(name: str) -> str:
    """A plain method's name as people read and type it: in tables, verdicts, `locant detect` and the documentation.

    >>> shown("sub_pca")
    'sub-pca'
    """
    return name.replace("_", "-")


def load(name: str) -> Baseline:
    """The file behind a name; its options are keywords of `score`.

    >>> load("distance").score(np.array([[1.0], [3.0]]), np.array([[2.0], [5.0]]))
    array([0., 3.])
    """
    if name not in names():
        hint = did_you_mean(str(name), names())
        raise ValueError(f"no baseline is called {name!r}.{hint}\n  Known: {', '.join(names())}")
    module: Any = import_module(f"locant.anomaly.baselines.{name}")
    return module
