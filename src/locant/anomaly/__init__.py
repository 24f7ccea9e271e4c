"""Anomaly detection in series: `locant.anomaly.detect`.

series      files to numbers
metrics     how well scores and flags agree with labels
baselines   classical methods that a model must beat
detector    a detector with its self-test, threshold and events

>>> from locant import anomaly
>>> found = anomaly.detect("mine.csv", method="harmonic", out="found")  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from locant.anomaly.detector import SeriesDetector as SeriesDetector
    from locant.anomaly.detector import Settings as Settings
    from locant.anomaly.detector import detect as detect
    from locant.anomaly.detector import detect_stream as detect_stream
    from locant.anomaly.series import read_series as read_series

_HOME = {
    "detect": "locant.anomaly.detector",
    "detect_stream": "locant.anomaly.detector",
    "Settings": "locant.anomaly.detector",
    "SeriesDetector": "locant.anomaly.detector",
    "read_series": "locant.anomaly.series",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"locant.anomaly has no name {name!r}. It has: {', '.join(_HOME)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*_HOME, "baselines", "detector", "metrics", "series"])
