"""Anomalies in a series that was dropped on the page: read, judged by a quick method, and forgotten."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from locant.anomaly.detector import Detection, Settings, detect
from locant.anomaly.series import Series, read_series, summary_table
from locant.explorer.answers import answer
from locant.explorer.asked import CELLS

METHOD = "harmonic"
PACKED = (b"\x1f\x8b", b"PAR1", b"PK\x03\x04")  # may be far larger than they look


def detected(body: bytes) -> bytes:
    """The series, what was expected of it, its scores, and the events with their times."""
    if body.startswith(PACKED):
        raise ValueError(
            "this page reads plain text: CSV, TSV or JSON lines. Unpack it, or use the terminal: locant detect FILE"
        )
    series = _read(body)
    if series.values.size > CELLS:
        raise ValueError(
            f"this page judges up to {CELLS:,} values. Got {series.values.size:,}: "
            "drop fewer rows or columns, or use the terminal: locant detect FILE"
        )
    return answer(_told(detect(series, Settings(method=METHOD))))


def _read(body: bytes) -> Series:
    with TemporaryDirectory(prefix="locant-dropped-") as folder:
        path = Path(folder) / "dropped.csv"
        path.write_bytes(body)
        try:
            return read_series(path)
        except ValueError as problem:
            raise ValueError(str(problem).replace(f"{folder}/", "")) from None


def _told(found: Detection) -> dict[str, Any]:
    series = found.series
    return {
        "understood": summary_table(series),
        "repairs": series.repairs,
        "names": series.names,
        "times": _times(series),
        "values": series.values.T,
        "expected": found.expected.T,
        "scores": found.scores,
        "threshold": found.threshold.value,
        "threshold_sentence": found.threshold.sentence,
        "why": found.chosen.why,
        "events": [
            {
                "start": event.start,
                "stop": event.stop,
                "first": _place(event.start, event.start_time),
                "last": _place(event.stop - 1, event.end_time),
                "score": event.score,
                "columns": event.columns,
                "value": event.value,
                "expected": event.expected,
            }
            for event in found.events
        ],
    }


def _times(series: Series) -> np.ndarray:
    """Moments as text, numbers as they are, rows counted where there is no time: (T)."""
    if series.times is None:
        return np.arange(len(series.values))
    return (
        series.times.astype("datetime64[ms]").astype(str)
        if series.times.dtype.kind == "M"
        else series.times
    )


def _place(row: int, time: Any) -> str:
    """
    >>> _place(3, None), _place(3, np.datetime64("2014-02-14T14:30", "ns")), _place(3, 0.5)
    ('row 3', '2014-02-14 14:30:00', '0.5')
    """
    if time is None:
        return f"row {row}"
    return (
        str(time.astype("datetime64[s]")).replace("T", " ")
        if isinstance(time, np.datetime64)
        else f"{time:g}"
    )
