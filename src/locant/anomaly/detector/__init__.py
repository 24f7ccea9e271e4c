"""Anomaly detection: predict every row of a series, score its residual, and find the events.

>>> from locant.anomaly import detect
>>> found = detect("mine.csv")  # doctest: +SKIP
>>> [(event.start_time, event.columns, event.expected) for event in found.events]  # doctest: +SKIP

pipeline    the doors: detect, detect_stream
fitting     train a detector: season, self-test, calibration, threshold
methods     one file or class each: the ways to predict a row
detection   the result; evaluation and outputs read it
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from locant.anomaly.detector.detection import Chosen, Detection, Trial
    from locant.anomaly.detector.detector import Detector, load, save
    from locant.anomaly.detector.estimator import SeriesDetector
    from locant.anomaly.detector.event_finder import Event
    from locant.anomaly.detector.pipeline import detect, detect_stream
    from locant.anomaly.detector.settings import Settings
    from locant.anomaly.detector.stream import Stream
    from locant.anomaly.detector.threshold import Threshold

_MODULES = {
    "Chosen": "detection",
    "Detection": "detection",
    "Detector": "detector",
    "Event": "event_finder",
    "SeriesDetector": "estimator",
    "Settings": "settings",
    "Stream": "stream",
    "Threshold": "threshold",
    "Trial": "detection",
    "detect": "pipeline",
    "detect_stream": "pipeline",
    "load": "detector",
    "save": "detector",
}

__all__ = [
    "Chosen",
    "Detection",
    "Detector",
    "Event",
    "SeriesDetector",
    "Settings",
    "Stream",
    "Threshold",
    "Trial",
    "detect",
    "detect_stream",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the names of the methods need no torch."""
    if name not in _MODULES:
        raise AttributeError(f"{__name__} has no name {name!r}. It has: {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
