"""What was found as tables: scores for every row, events, and all that was chosen as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from locant._internal.files import write_atomically
from locant.anomaly.detector.detection import Detection, Event
from locant.anomaly.detector.method import Floats


def scores_table(found: Detection, baselines: Mapping[str, Floats] | None = None) -> pl.DataFrame:
    """One row for each of the series: time, score, whether it is in an event; value, expectation and score by column."""
    series = found.series
    columns: dict[str, Any] = {"row": np.arange(len(found.scores))}
    if series.times is not None:
        columns["time"] = series.times
    columns |= {"score": found.scores, "event": found.flags.astype(np.int8)}
    if series.labels is not None:
        columns["label"] = series.labels.astype(np.int8)
    for place, name in enumerate(series.names):
        columns[_free(name, f"value of {name}", columns)] = series.values[:, place]
        columns[_free(f"{name} expected", f"expected of {name}", columns)] = found.expected[
            :, place
        ]
        columns[_free(f"{name} score", f"score of {name}", columns)] = found.by_column[:, place]
    for name, scores in (baselines or {}).items():
        columns[_free(f"baseline {name}", f"plain method {name}", columns)] = scores
    return pl.DataFrame(columns)


def _free(name: str, instead: str, taken: Mapping[str, Any]) -> str:
    """A name that no column has yet: one of the two, or the second with more marks."""
    while name in taken:
        name, instead = instead, f"{instead}'"
    return name


def events_table(events: tuple[Event, ...]) -> list[dict[str, Any]]:
    """One row for each event, with plain values."""
    return [
        {
            "event": number,
            "start": _moment(event.start_time, event.start),
            "end": _moment(event.end_time, event.stop - 1),
            "first_row": event.start,
            "last_row": event.stop - 1,
            "score": round(event.score, 4),
            "columns": ", ".join(event.columns),
            "peak_row": event.peak,
            "peak": _moment(event.peak_time, event.peak),
            "value": event.value,
            "expected": event.expected,
        }
        for number, event in enumerate(events, 1)
    ]


def summary(found: Detection) -> dict[str, Any]:
    """All that was found and chosen, without the scores of single rows."""
    chosen = asdict(found.chosen) | {"why": list(found.chosen.why)}
    return {
        "file": found.series.summary.file,
        "rows": len(found.scores),
        "columns": list(found.series.names),
        "repairs": list(found.series.repairs),
        "chosen": chosen,
        "threshold": asdict(found.threshold) | {"sentence": found.threshold.sentence},
        "self_test": [asdict(trial) | {"name": trial.name} for trial in found.self_test],
        "events": events_table(found.events),
    }


def write_tables(
    found: Detection,
    folder: Path,
    *,
    parquet: bool,
    told: dict[str, Any],
    baselines: Mapping[str, Floats],
) -> list[Path]:
    """scores.csv (and scores.parquet), events.csv and events.json, each whole or not at all."""
    table, written = scores_table(found, baselines), []
    events = pl.DataFrame(
        events_table(found.events),
        schema=None if found.events else dict.fromkeys(COLUMNS, pl.String),
    )
    for name in (
        "scores.csv",
        *(["scores.parquet"] if parquet else []),
        "events.csv",
        "events.json",
    ):
        with write_atomically(folder / name) as half:
            if name.endswith(".parquet"):
                table.write_parquet(half)
            elif name == "events.json":
                half.write_text(
                    json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
                )
            else:
                one = table if name == "scores.csv" else events
                one.write_csv(half, datetime_format="%Y-%m-%dT%H:%M:%S%.f")
        written.append(folder / name)
    return written


COLUMNS = (
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


def _moment(time: Any, row: int) -> Any:
    if time is None:
        return row
    return str(time.astype("datetime64[s]")) if isinstance(time, np.datetime64) else float(time)
