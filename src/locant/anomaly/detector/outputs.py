"""Tables and files of a detection: scores of rows, events, and all choices as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from locant._internal.files import write_atomically
from locant.anomaly.metrics.vus_window import vus_window

if TYPE_CHECKING:
    from locant.anomaly.detector.detection import Detection
    from locant.anomaly.detector.event_finder import Event

SCORES, SCORES_PARQUET = "scores.csv", "scores.parquet"
EVENTS, SUMMARY = "events.csv", "events.json"
PICTURE = "detected.png"
FILES = (SCORES, SCORES_PARQUET, EVENTS, SUMMARY, PICTURE)
EVENT_COLUMNS = (
    "event",
    "start",
    "end",
    "first_row",
    "last_row",
    "score",
    "columns",
    "peak_row",
    "peak",
    "value",
    "expected",
)


def scores_table(found: Detection) -> pl.DataFrame:
    """Tabulate every row: time, score, event; value, prediction and score by column; baselines."""
    series = found.series
    columns: dict[str, Any] = {"row": np.arange(len(found.scores))}
    if series.times is not None:
        columns["time"] = series.times
    columns |= {"score": found.scores, "event": found.flags.astype(np.int8)}
    if series.labels is not None:
        columns["label"] = series.labels.astype(np.int8)

    def add(name: str, alternative: str, values: Any) -> None:
        columns[_unused_name(name, alternative, columns)] = values

    for column, name in enumerate(series.names):
        values: Any = series.values[:, column]
        if series.observed is not None:  # what the file does not hold stays empty
            present = series.observed[:, column].tolist()
            pairs = zip(values.tolist(), present, strict=True)
            values = pl.Series(
                [value if there else None for value, there in pairs], dtype=pl.Float64
            )
        add(name, f"value of {name}", values)
        add(f"{name} expected", f"expected of {name}", found.expected[:, column])
        add(f"{name} score", f"score of {name}", found.by_column[:, column])
    for name, scores in found.baseline_scores.items():
        add(f"baseline {name}", f"plain method {name}", scores)
    return pl.DataFrame(columns)


def events_table(events: tuple[Event, ...]) -> list[dict[str, Any]]:
    """Tabulate the events as plain values."""
    table = []
    for number, event in enumerate(events, 1):
        record = (
            number,
            _plain_time(event.start_time, event.start),
            _plain_time(event.end_time, event.stop - 1),
            event.start,
            event.stop - 1,
            round(event.score, 4),
            ", ".join(event.columns),
            event.peak,
            _plain_time(event.peak_time, event.peak),
            event.value,
            event.expected,
        )
        table.append(dict(zip(EVENT_COLUMNS, record, strict=True)))
    return table


def events_frame(found: Detection) -> pl.DataFrame:
    """Return the events as a frame; it has all columns when there are none."""
    schema = None if found.events else dict.fromkeys(EVENT_COLUMNS, pl.String)
    return pl.DataFrame(events_table(found.events), schema=schema)


def describe_gaps(found: Detection) -> str:
    """Describe the gaps in a sentence; empty where there are none."""
    gaps = found.gaps
    if not gaps:
        return ""
    absent, rows = sum(gap.absent for gap in gaps), len(found.scores)
    longest = max(gaps, key=lambda gap: gap.absent)
    ends = (_plain_time(longest.start_time, 0), _plain_time(longest.end_time, 0))
    first, last = (str(end).replace("T", " ") for end in ends)
    plural, verb = ("s", "are") if absent > 1 else ("", "is")
    return (
        f"{len(gaps)} gap{'s' if len(gaps) > 1 else ''}: {absent:,} of {absent + rows:,} "
        f"row{plural} {verb} absent, most between {first} and {last}. Absent rows are not judged."
    )


def headline(found: Detection) -> str:
    """Describe the events in one line: how many, and the strongest."""
    file, count = found.series.summary.file, len(found.events)
    if not count:
        return f"no event in {file}"
    top = max(events_table(found.events), key=lambda event: event["score"])
    column = top["columns"].split(", ")[0]
    time = str(top["peak"]).replace("T", " ")
    strongest = f"at {time}: {column} = {top['value']:.6g}, expected {top['expected']:.6g}"
    if count == 1:
        return f"1 event in {file}; {strongest}"
    return f"{count} events in {file}; the strongest {strongest}"


def summary(found: Detection) -> dict[str, Any]:
    """Return events, choices and evaluation as plain values, without the scores of single rows."""
    out = {
        "file": found.series.summary.file,
        "rows": len(found.scores),
        "columns": list(found.series.names),
        "repairs": list(found.series.repairs),
        "chosen": asdict(found.chosen) | {"why": list(found.chosen.why)},
        "threshold": asdict(found.threshold) | {"sentence": found.threshold.sentence},
        "self_test": [asdict(trial) | {"name": trial.name} for trial in found.self_test],
        "events": events_table(found.events),
        "gaps": [
            {
                "after": _plain_time(gap.start_time, gap.after),
                "before": _plain_time(gap.end_time, gap.after + 1),
                "absent_rows": gap.absent,
            }
            for gap in found.gaps
        ],
        "against_labels": found.evaluation,
    }
    if found.evaluation:
        out["vus_pr_window"] = vus_window(found.series.values)
        if found.baseline_scores:
            out["baselines"] = found.baseline_evaluation
    return out


def write_files(found: Detection, folder: Path, *, parquet: bool) -> tuple[Path, ...]:
    """Write scores.csv (and scores.parquet), events.csv and events.json, each atomically."""
    scores = scores_table(found)
    events = events_frame(found)
    text = json.dumps(summary(found), indent=2, ensure_ascii=False) + "\n"
    files = [_write_csv(scores, folder / SCORES)]
    if parquet:
        with write_atomically(folder / SCORES_PARQUET) as half:
            scores.write_parquet(half)
        files.append(folder / SCORES_PARQUET)
    files.append(_write_csv(events, folder / EVENTS))
    with write_atomically(folder / SUMMARY) as half:
        half.write_text(text, encoding="utf-8")
    return (*files, folder / SUMMARY)


def _write_csv(table: pl.DataFrame, path: Path) -> Path:
    with write_atomically(path) as half:
        table.write_csv(half, datetime_format="%Y-%m-%dT%H:%M:%S%.f")
    return path


def _unused_name(name: str, alternative: str, taken: Mapping[str, Any]) -> str:
    """Choose a name that no column has yet: the first, the alternative, or that with primes."""
    while name in taken:
        name, alternative = alternative, f"{alternative}'"
    return name


def _plain_time(time: Any, row: int) -> Any:
    """Return a time as text or number; the row where there are no times."""
    if time is None:
        return row
    return str(time.astype("datetime64[s]")) if isinstance(time, np.datetime64) else float(time)
