"""A detector: one trained method with all that is needed to score new rows, and its saved form.

A saved detector is a folder: detector.json for people, detector.safetensors for what was learned,
never pickle. Both files hold the facts: two files that do not belong together, or that were changed
by hand, are refused.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from locant._internal.files import write_atomically
from locant._internal.threads import one_thread
from locant.anomaly.detector.calibration import Calibration
from locant.anomaly.detector.detection import Chosen, Detection, Trial
from locant.anomaly.detector.event_finder import find_events, score_residuals
from locant.anomaly.detector.methods import Candidate
from locant.anomaly.detector.methods.base import Method
from locant.anomaly.detector.residuals import Residuals, compute_residuals
from locant.anomaly.detector.threshold import (
    CleanScores,
    ScaleThreshold,
    Threshold,
    scale_widths,
)
from locant.anomaly.detector.time_grid import (
    Flags,
    Floats,
    Layout,
    Segment,
    TimeAxis,
    observed_values,
)
from locant.anomaly.series import Series
from locant.anomaly.series.model_input import Units
from locant.lab.training.checkpoint import read_tensors, with_prefix, write_tensors

FACTS, TENSORS, FORMAT = "detector.json", "detector.safetensors", "locant detector 3"
EARLIER = "locant detector 2"  # without a scale of single rows


class StreamState(NamedTuple):
    """Where a stream ended: all that the next row is scored with."""

    values: Floats  # (C,F) the last rows, NaN where nothing was observed
    positions: Floats  # (C,)
    hidden: Flags  # (C,) the rows that looked wrong
    past: Floats  # (P,F) scaled residuals that smoothing looks back on
    scale: Floats  # (F,)


@dataclass(frozen=True, eq=False)
class Detector:
    """What was learned from clean rows. `detect` scores any series with the same columns."""

    names: tuple[str, ...]
    candidate: Candidate
    method: Method
    layout: Layout
    time_axis: TimeAxis
    calibration: Calibration
    chosen: Chosen
    trials: tuple[Trial, ...]
    recent: Segment  # the last rows that were learned from, in their own units, for streams
    stream: StreamState | None = None  # where its last stream ended, if it scored one

    @property
    def units(self) -> Units:
        """Return the center and the scale of every column."""
        return self.layout.units

    def detect(self, series: Series) -> Detection:
        """Detect anomalies in a series that was not learned from."""
        self.check(series.names, len(series.values))
        positions = self.time_axis.positions(series.times, len(series.values))
        limit = self.calibration.limit
        with one_thread():
            values = observed_values(series)
            found = compute_residuals(self.method, self.layout, values, positions, limit)
            return self.detection_of(series, found)

    def detection_of(self, series: Series, found: Residuals) -> Detection:
        """Turn residuals into scores and events."""
        expected = self.units.back(found.expected)
        scaled = found.residual / self.calibration.scale
        scored = score_residuals(scaled, self.calibration.threshold)
        events = find_events(series, expected, scored, self.calibration)
        return Detection(
            series,
            scored.by_column.max(1),
            scored.by_column,
            expected,
            self.calibration.threshold,
            events,
            self.chosen,
            self.trials,
            self,
        )

    def with_threshold(self, asked: str | float) -> Detector:
        """Return the same detector with another threshold: "clean", a rate ("0.5%") or a score."""
        return replace(self, calibration=self.calibration.with_threshold(asked, self.chosen.smooth))

    def check(self, names: tuple[str, ...], rows: int) -> None:
        """Refuse a series with other columns, or with too few rows."""
        if names != self.names:
            raise ValueError(
                f"this detector knows the columns {', '.join(self.names)}; "
                f"the series has {', '.join(names)}.\n"
                f"  Choose them in this order: --columns {','.join(self.names)}; "
                "or train a new detector, without --model."
            )
        if rows < self.method.min_rows:
            raise ValueError(
                f"this detector needs at least {self.method.min_rows} rows, one window. Got {rows}."
            )


def save(detector: Detector, folder: str | Path) -> Path:
    """Write a detector into a folder; the folder is made when it is missing."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"{folder} is a file. A detector is saved in a folder: name another.")
    facts = json.loads(json.dumps(_facts(detector)))
    write_tensors(path / TENSORS, _tensors(detector), facts)
    with write_atomically(path / FACTS) as half:
        half.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def load(folder: str | Path) -> Detector:
    """Read a saved detector, or explain what is wrong with it."""
    path = Path(folder).expanduser()
    if not (path / FACTS).is_file() or not (path / TENSORS).is_file():
        raise ValueError(
            f"{folder} is no saved detector: that is a folder with {FACTS} and {TENSORS}.\n"
            "  Make one: locant detect mine.csv --save FOLDER"
        )
    tensors, facts = read_tensors(path / TENSORS)
    try:
        readable = json.loads((path / FACTS).read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(
            f"{path / FACTS} is damaged: it is no JSON. Save the detector again."
        ) from None
    if readable != facts or facts.get("format") not in (FORMAT, EARLIER):
        raise ValueError(
            f"{folder}: its two files are not of one detector ({FORMAT}). Save the detector again."
        )
    return _restored(facts, tensors)


def _facts(detector: Detector) -> dict[str, Any]:
    """Describe a detector in plain values."""
    known, axis = detector.calibration, detector.time_axis
    dated, start = axis.dated, axis.start
    if dated:
        start = int(start.astype("datetime64[ns]").astype(np.int64))
    elif start is not None:
        start = float(start)
    return {
        "format": FORMAT,
        "columns": list(detector.names),
        "candidate": asdict(detector.candidate),
        "chosen": asdict(detector.chosen),
        "threshold": asdict(known.threshold),
        "limit": known.limit,
        "clock": {
            "start": start,
            "dated": dated,
            "step": axis.step,
            "rows": axis.rows,
            "regular": axis.regular,
        },
        "self_test": [asdict(trial) for trial in detector.trials],
    }


def _tensors(detector: Detector) -> dict[str, Tensor]:
    """Collect the numbers of a detector by name."""
    known = detector.calibration
    arrays = {"middle": detector.units.middle, "size": detector.units.size, "usual": known.scale}
    widths = scale_widths(detector.chosen.smooth)[: len(known.scores)]
    for width, clean in zip(widths, known.scores, strict=True):
        arrays[f"held_out scores {width}"] = clean.held_out
        if clean.fitted is not None:
            arrays[f"fitted scores {width}"] = clean.fitted
    arrays |= {"recent": detector.recent.values, "recent at": detector.recent.positions}
    if detector.stream is not None:
        ended = detector.stream._asdict().items()
        arrays |= {f"stream/{name}": np.ascontiguousarray(array) for name, array in ended}
    learned = {f"method/{name}": value for name, value in detector.method.state().items()}
    return {**{name: torch.from_numpy(value) for name, value in arrays.items()}, **learned}


def _restored(facts: dict[str, Any], tensors: dict[str, Tensor]) -> Detector:
    """Make a detector from its facts and tensors."""
    candidate = Candidate(**facts["candidate"])
    method = candidate.make()
    method.restore(with_prefix(tensors, "method/"))
    arrays = {name: value.numpy() for name, value in tensors.items() if "/" not in name}
    scores, threshold = _restored_scales(facts, arrays)
    ended = {name: value.numpy() for name, value in with_prefix(tensors, "stream/").items()}
    clock = facts["clock"]
    start = np.datetime64(clock["start"], "ns") if clock["dated"] else clock["start"]
    axis = TimeAxis(start, clock["step"], clock["rows"], clock.get("regular", True))
    chosen = Chosen(**{**facts["chosen"], "why": tuple(facts["chosen"]["why"])})
    return Detector(
        tuple(facts["columns"]),
        candidate,
        method,
        Layout(Units(arrays["middle"], arrays["size"]), axis.regular, chosen.season),
        axis,
        Calibration(arrays["usual"], facts["limit"], scores, threshold),
        chosen,
        tuple(Trial(**trial) for trial in facts["self_test"]),
        Segment(arrays["recent"], arrays["recent at"]),
        StreamState(**ended) if ended else None,
    )


def _restored_scales(
    facts: dict[str, Any], arrays: dict[str, Any]
) -> tuple[tuple[CleanScores, ...], Threshold]:
    """Make the clean scores and the threshold of every scale that a detector was saved with."""
    width, threshold = facts["chosen"]["smooth"], facts["threshold"]
    columns = len(facts["columns"])
    if facts["format"] == EARLIER:
        clean = CleanScores(arrays["held_out scores"], arrays.get("fitted scores"), columns)
        typical = float(np.median(clean.scores))
        known = (threshold["value"], typical, threshold["measured"], threshold["independent"])
        return (clean,), Threshold(**threshold, scales=(ScaleThreshold(width, *known),))
    scores = []
    for one in scale_widths(width)[: len(threshold["scales"])]:
        held_out, fitted = arrays[f"held_out scores {one}"], arrays.get(f"fitted scores {one}")
        scores.append(CleanScores(held_out, fitted, columns))
    scales = tuple(ScaleThreshold(**scale) for scale in threshold["scales"])
    return tuple(scores), Threshold(**{**threshold, "scales": scales})
