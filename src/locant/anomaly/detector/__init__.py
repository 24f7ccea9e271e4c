"""Anomalies in a series: what was expected, how far each point is from it, and the events that this shows.

>>> from locant.anomaly.series import read_series
>>> found = detect(read_series("mine.csv"))  # doctest: +SKIP
>>> [(event.start_time, event.columns, event.expected) for event in found.events]  # doctest: +SKIP
"""

from __future__ import annotations

from locant.anomaly.detector.detect import detect
from locant.anomaly.detector.detection import Chosen, Detection, Event, Threshold, Trial
from locant.anomaly.detector.detector import Detector
from locant.anomaly.detector.saved import load, save
from locant.anomaly.detector.settings import Settings
from locant.anomaly.detector.stream import Stream

__all__ = [
    "Chosen",
    "Detection",
    "Detector",
    "Event",
    "Settings",
    "Stream",
    "Threshold",
    "Trial",
    "detect",
    "load",
    "save",
]
