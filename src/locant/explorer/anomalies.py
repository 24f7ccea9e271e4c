"""Detect anomalies in a file that was dropped on the page: read, scored by a quick method, not
kept."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from locant.anomaly.detector import Detection, Settings, detect
from locant.anomaly.series import Series, read_series, summary_table
from locant.anomaly.series.series import time_text
from locant.explorer.schemas import MAX_VALUES
from locant.explorer.serialization import to_json

METHOD = "harmonic"
COMPRESSED = (b"\x1f\x8b", b"PAR1", b"PK\x03\x04")  # may be far larger than they look


def detect_events(body: bytes) -> bytes:
    """Return the series, its expected values and scores, and the events with their times."""
    if body.startswith(COMPRESSED):
        raise ValueError(
            "this page reads plain text: CSV, TSV or JSON lines. "
            "Unpack the file, or use the terminal: locant detect FILE"
        )
    series = _read(body)
    if series.values.size > MAX_VALUES:
        raise ValueError(
            f"this page takes up to {MAX_VALUES:,} values. Got {series.values.size:,}: "
            "drop fewer rows or columns, or use the terminal: locant detect FILE"
        )
    return to_json(_as_dict(detect(series, Settings(method=METHOD))))


def _read(body: bytes) -> Series:
    with TemporaryDirectory(prefix="locant-dropped-") as folder:
        path = Path(folder) / "dropped.csv"
        path.write_bytes(body)
        try:
            return read_series(path)
        except ValueError as problem:
            raise ValueError(str(problem).replace(f"{folder}/", "")) from None


def _as_dict(found: Detection) -> dict[str, Any]:
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
                "first": _time_or_row(event.start, event.start_time),
                "last": _time_or_row(event.stop - 1, event.end_time),
                "score": event.score,
                "columns": event.columns,
                "value": event.value,
                "expected": event.expected,
            }
            for event in found.events
        ],
    }


def _times(series: Series) -> np.ndarray:
    """Return timestamps as text, numbers as they are, row numbers where there is no time: (T)."""
    if series.times is None:
        return np.arange(len(series.values))
    if series.times.dtype.kind == "M":
        return series.times.astype("datetime64[ms]").astype(str)
    return series.times


def _time_or_row(row: int, time: Any) -> str:
    """Write when a row was measured.

    >>> _time_or_row(3, None), _time_or_row(3, np.datetime64("2014-02-14T14:30", "ns"))
    ('row 3', '2014-02-14 14:30:00')
    >>> _time_or_row(3, 0.5)
    '0.5'
    """
    return f"row {row}" if time is None else time_text(time)
