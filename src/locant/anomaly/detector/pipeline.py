"""The doors: `detect` for a file or a series, `detect_stream` for rows as they come."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np

from locant._internal.checks import whole_number
from locant._internal.files import check_folder
from locant._internal.threads import one_thread
from locant.anomaly.detector.detection import Detection
from locant.anomaly.detector.detector import Detector, load
from locant.anomaly.detector.detector import save as save_detector
from locant.anomaly.detector.evaluation import baseline_scores
from locant.anomaly.detector.fitting import MIN_ROWS, fit_and_detect
from locant.anomaly.detector.methods.base import Progress
from locant.anomaly.detector.outputs import FILES
from locant.anomaly.detector.settings import Settings, SettingsOptions
from locant.anomaly.detector.stream import ScoredRow, Stream, as_detection, as_series
from locant.anomaly.series import Row, Series, read_series, stream_rows
from locant.anomaly.series.frames import KINDS, is_frame, series_of_frame

DEFAULT = Settings()
MAX_STREAM_ROWS = 100_000  # rows of a stream that the detection at its end holds, the last ones

Source = Any  # the path of a file, a Series, or what `series_of_frame` takes


def detect(
    data: Source,
    settings: Settings = DEFAULT,
    *,
    train: Source | None = None,
    model: str | Path | Detector | None = None,
    time: str | None = None,
    columns: Sequence[str] | str | None = None,
    labels: str | None = None,
    windows: str | Path | None = None,
    baselines: bool = False,
    save: str | Path | None = None,
    out: str | Path | None = None,
    parquet: bool = False,
    progress: Progress | None = None,
    on_series: Callable[[Series], None] | None = None,
    **options: Unpack[SettingsOptions],
) -> Detection:
    """Detect anomalies in a file, a frame or a series; the words are those of `locant detect`.

    data       the path of a file; a pandas or polars frame or a numpy array, its rows in the order
               of time; or a series that `read_series` has read
    train      a clean file or series with the same columns to learn from; by default the data
               itself, or its clean part
    model      a saved detector to score by; nothing is learned then
    time, columns, labels, windows  what to read from a file; see `read_series`
    baselines  whether to score the classical baselines too: `Detection.baseline_scores`
    save       a folder to save the detector in
    out        a folder for scores.csv, events.csv and events.json; by default nothing is written
    parquet    whether to write scores.parquet too
    progress   is called with the current step and the share of it that is done
    on_series  is called with each series that was read, before anything is learned
    options    fields of Settings: method, encodings, clean, season, smooth, threshold, steps, seed

    >>> from locant.anomaly.series.series import FileSummary
    >>> wave = np.sin(np.arange(400) / 4)[:, None]
    >>> wave[300:304] += 1.5
    >>> facts = FileSummary("wave", "made", 400, 1, None)
    >>> series = Series(wave, ("wave",), None, None, None, facts, [])
    >>> [(event.start, event.stop) for event in detect(series, method="harmonic").events]
    [(300, 304)]
    """
    settings = _with_options(settings, options)
    _check_request(data, settings, train, model, save, out)
    detector = _loaded(model, settings)
    if detector is not None and columns is None:
        columns = list(detector.names)
    reading = {"time": time, "columns": columns, "label": labels, "windows": windows}
    series = _read(data, on_series, **reading)
    other = None
    if train is not None:
        other = _read(train, on_series, time=time, columns=list(series.names))
    if detector is None:
        found = fit_and_detect(series, settings, other, progress or _silent)
    else:
        found = detector.detect(series)
    return _finish(found, baselines=baselines, save=save, out=out, parquet=parquet)


def detect_stream(
    lines: Iterable[str],
    settings: Settings = DEFAULT,
    *,
    model: str | Path | Detector | None = None,
    learn: int = 1000,
    time: str | None = None,
    columns: Sequence[str] | None = None,
    baselines: bool = False,
    save: str | Path | None = None,
    out: str | Path | None = None,
    parquet: bool = False,
    progress: Progress | None = None,
    on_start: Callable[[Detector], None] | None = None,
    on_row: Callable[[Row, ScoredRow], None] | None = None,
    **options: Unpack[SettingsOptions],
) -> Detection:
    """Score the lines of a stream as they come; return the detection of the last rows at its end.

    Each row is scored at once by the rows before it. What is returned is judged in one go, as a
    file is; its detector, saved, goes on where this stream ended.

    learn     the first rows to learn from, where no model is given; a shorter stream is scored as
              one series
    on_start  is called with the detector before the first row is scored
    on_row    is called with each row and its score, before the next line is read

    The other words are those of `detect`.
    """
    settings = _with_options(settings, options)
    whole_number("detect", "learn", learn, least=MIN_ROWS)
    _check_request(None, settings, None, model, save, out)
    detector = _loaded(model, settings)
    if detector is not None and columns is None:
        columns = list(detector.names)
    rows = stream_rows(lines, time=time, columns=columns)
    found = None
    if detector is None:
        series = as_series(list(islice(rows, learn)))
        found = fit_and_detect(series, settings, None, progress or _silent)
        following = list(islice(rows, 1))
        rows = chain(following, rows)
        if following:
            detector = found.detector
    if detector is not None:
        if on_start is not None:
            on_start(detector)
        found = _score_rows(detector, rows, on_row)
    return _finish(cast(Detection, found), baselines=baselines, save=save, out=out, parquet=parquet)


def _with_options(settings: Settings, options: SettingsOptions) -> Settings:
    """Change the fields of the settings that were given as keywords."""
    changes: dict[str, Any] = dict(options)
    return replace(settings, **changes)


def _check_request(
    data: Source | None,
    settings: Settings,
    train: Source | None,
    model: str | Path | Detector | None,
    save: str | Path | None,
    out: str | Path | None,
) -> None:
    """Refuse what cannot be asked for together, and files that cannot be written."""
    if train is not None and model is not None:
        raise ValueError(
            "train and model exclude each other: a saved detector learns nothing more."
        )
    if model is not None and settings != Settings(threshold=settings.threshold):
        raise ValueError(
            "of a saved detector (model) the threshold alone can be changed: "
            "the rest was learned with it."
        )
    for option, folder in (("out", out), ("save", save)):
        if folder is not None:
            check_folder(option, Path(folder))
    if out is None or not isinstance(data, str | Path):
        return
    if Path(data).resolve() in [(Path(out) / name).resolve() for name in FILES]:
        raise ValueError(
            f"{data} would be overwritten by what is found in it. Choose another folder than {out}."
        )


def _loaded(model: str | Path | Detector | None, settings: Settings) -> Detector | None:
    """Load a saved detector, with the threshold that was asked for."""
    if model is None:
        return None
    detector = model if isinstance(model, Detector) else load(model)
    if settings.threshold == "clean":
        return detector
    return detector.with_threshold(settings.threshold)


def _read(source: Source, on_series: Callable[[Series], None] | None, **reading: Any) -> Series:
    """Read a file or a frame; a series is taken as it is."""
    if isinstance(source, Series):
        return source
    if is_frame(source):
        if reading.pop("windows", None) is not None:
            raise ValueError(
                "windows are read with files. Give a frame a column of labels: labels=."
            )
        series = series_of_frame(source, **reading)
    elif isinstance(source, str | os.PathLike):
        series = read_series(Path(source), **reading)
    else:
        raise ValueError(
            f"detect needs the path of a file, {KINDS}, or a series that read_series has read. "
            f"Got {type(source).__name__} instead."
        )
    if on_series is not None:
        on_series(series)
    return series


def _finish(
    found: Detection,
    *,
    baselines: bool,
    save: str | Path | None,
    out: str | Path | None,
    parquet: bool,
) -> Detection:
    """Score the baselines, and write what was asked for."""
    if baselines:
        found = replace(found, baseline_scores=baseline_scores(found))
    if out is not None:
        found = replace(found, files=found.write(out, parquet=parquet))
    if save is not None:
        save_detector(found.detector, save)
    return found


def _score_rows(
    detector: Detector, rows: Iterator[Row], on_row: Callable[[Row, ScoredRow], None] | None
) -> Detection:
    """Score every row as it comes; at the end, judge the last ones in one go, as a file."""
    kept: deque[tuple[Row, ScoredRow]] = deque(maxlen=MAX_STREAM_ROWS)
    with one_thread():
        stream = Stream(detector)
        first = stream.next_position()
        for number, row in enumerate(rows):
            if not kept:
                detector.check(tuple(row.names), detector.method.min_rows)
            scored = stream.push(row.values, _position(detector, row, first + number))
            kept.append((row, scored))
            if on_row is not None:
                on_row(row, scored)
        detector = replace(detector, stream=stream.state())
    return as_detection(detector, [row for row, _ in kept], [scored for _, scored in kept])


def _position(detector: Detector, row: Row, counted: float) -> float:
    """Return the position of a row of a stream: by its time, or as rows were counted."""
    if detector.time_axis.start is None:
        return counted
    times = None if row.time is None else np.array([row.time])
    return float(detector.time_axis.positions(times, 1)[0])


def _silent(_step: str, _share: float) -> None:
    """Report no progress."""
