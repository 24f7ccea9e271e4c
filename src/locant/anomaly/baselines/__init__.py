"""Classical anomaly scores for series: what a model must beat. One file each, found by its name.

A file offers `score(lead, series)`, and may say what its lead is: `LEAD = "none"` for a baseline
that looks at neighboring points alone, "itself" (the default) for one that may learn from the
series that it scores, "clean" for one that needs other, clean points. No torch.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from locant._internal.checks import did_you_mean, one_of

LEADS = ("none", "itself", "clean")


class Baseline(Protocol):
    """What every file offers. Some also have `fit`, with the same arguments: predictions (T, F)."""

    def score(self, lead: np.ndarray, series: np.ndarray) -> np.ndarray:
        """Score how anomalous each point of the series is, (T,), given the points before it."""


def names() -> list[str]:
    """List the baselines, by the names of their files.

    >>> names()[:4]
    ['distance', 'harmonic', 'local_quadratic', 'nearest_window']
    """
    files = [path for folder in __path__ for path in Path(folder).glob("[a-z]*.py")]
    return sorted({path.stem for path in files})


def shown(name: str) -> str:
    """Return the name of a baseline as people read and type it.

    >>> shown("sub_pca")
    'sub-pca'
    """
    return name.replace("_", "-")


def load(name: str) -> Baseline:
    """Import the file behind a name; its options are keywords of `score`.

    >>> load("distance").score(np.array([[1.0], [3.0]]), np.array([[2.0], [5.0]]))
    array([0., 3.])
    """
    if name not in names():
        hint = did_you_mean(str(name), names())
        raise ValueError(f"no baseline is called {name!r}.{hint}\n  Known: {', '.join(names())}")
    module: Any = import_module(f"locant.anomaly.baselines.{name}")
    return module


def lead_of(name: str) -> str:
    """Return the lead that a baseline takes: "none", "itself" or "clean".

    >>> lead_of("rolling_median"), lead_of("distance"), lead_of("nearest_window")
    ('none', 'itself', 'clean')
    """
    return one_of(name, "LEAD", getattr(load(name), "LEAD", "itself"), LEADS)
