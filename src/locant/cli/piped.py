"""Rows from standard input: learn from the first ones, or judge by a kept detector, then answer each row with a line."""

from __future__ import annotations

import csv
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from locant.cli.detect import progress

if TYPE_CHECKING:
    from locant.anomaly.detector import Detection, Detector, Settings
    from locant.anomaly.detector.stream import Scored
    from locant.anomaly.series import Row

KEPT = 100_000  # rows that the files at the end tell of, the last ones
HEADER = ("line", "time", "score", "event", "column", "value", "expected")


def judge_pipe(
    settings: Settings,
    model: Path | None,
    learn: int,
    *,
    time: str | None,
    columns: Sequence[str] | None,
) -> Detection:
    """Judge the rows of standard input as they come; what was found in the last ones is given at the end."""
    from locant.anomaly.detector import detect, load
    from locant.anomaly.detector.rows import as_series
    from locant.anomaly.series import stream_rows

    detector = None if model is None else load(model)
    wanted = list(detector.names) if detector is not None and columns is None else columns
    if sys.stdin is None:
        raise ValueError("standard input is closed: there are no rows to judge.")
    rows = stream_rows(sys.stdin, time=time, columns=wanted)
    if detector is None:
        first = list(islice(rows, learn))
        series = as_series(first)
        with progress() as tell:
            whole = detect(series, settings, progress=tell)
        following = next(rows, None)
        if following is None:
            return whole  # the stream was shorter than what is learnt from: all of it is judged
        return _stream(whole.detector, _chained(following, rows))
    again = (
        detector if settings.threshold == "clean" else detector.with_threshold(settings.threshold)
    )
    return _stream(again, rows)


def _chained(first: Row, rest: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rest


def _stream(detector: Detector, rows: Iterator[Row]) -> Detection:
    """Answer every row with a line, and gather the last ones."""
    from locant.anomaly.detector import Stream
    from locant.anomaly.detector.threads import one_thread

    threshold = detector.calibration.threshold.value
    answer = csv.writer(sys.stdout)
    answer.writerow(HEADER)
    kept: deque[tuple[Row, Scored]] = deque(maxlen=KEPT)
    with one_thread():
        stream = Stream(detector)
        for number, row in enumerate(rows):
            if not kept:
                detector.check(tuple(row.names), detector.method.least)
            times = None if row.time is None else np.array([row.time])
            at = float(detector.clock.at(times, 1)[0]) + (
                number if detector.clock.start is None else 0
            )
            scored = stream.push(row.values, at)
            kept.append((row, scored))
            answer.writerow(_line(row, scored, threshold))
            sys.stdout.flush()
            for sentence in row.notes:
                print(sentence, file=sys.stderr)
    return _gathered(detector, [row for row, _ in kept], [scored for _, scored in kept])


def _line(row: Row, scored: Scored, threshold: float) -> list[Any]:
    worst = int(scored.by_column.argmax())
    when = (
        str(row.time.astype("datetime64[ms]")) if isinstance(row.time, np.datetime64) else row.time
    )
    numbers = f"{row.values[worst]:.6g}", f"{scored.expected[worst]:.6g}"
    return [
        row.line,
        when,
        f"{scored.score:.4g}",
        int(scored.score > threshold),
        row.names[worst],
        *numbers,
    ]


def _gathered(detector: Detector, rows: list[Row], scored: list[Scored]) -> Detection:
    """What was judged row by row, as one detection."""
    from locant.anomaly.detector import Detection
    from locant.anomaly.detector.finding import find_events
    from locant.anomaly.detector.rows import as_series

    series = as_series(rows, in_time=False)
    by_column, expected, away = (
        np.stack([getattr(one, name) for one in scored])
        for name in ("by_column", "expected", "away")
    )
    known, chosen = detector.calibration, detector.chosen
    found = find_events(
        series, expected, by_column, away, known.threshold.value, known.odd, chosen.smooth
    )
    return Detection(
        series,
        by_column.max(1),
        by_column,
        expected,
        known.threshold,
        found,
        chosen,
        detector.trials,
        detector,
    )
