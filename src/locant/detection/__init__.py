"""Anomalies in a series: what was expected, how far each point is from it, and the events that this shows.

>>> from locant.series import read_series
>>> found = detect(read_series("mine.csv"))  # doctest: +SKIP
>>> [(event.start_time, event.columns, event.expected) for event in found.events]  # doctest: +SKIP
"""

from __future__ import annotations

from locant.detection.detect import detect
from locant.detection.detection import Chosen, Detection, Event, Threshold, Trial
from locant.detection.detector import Detector
from locant.detection.saved import load, save
from locant.detection.settings import Settings
from locant.detection.stream import Stream

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
