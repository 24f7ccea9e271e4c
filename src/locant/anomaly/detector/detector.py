"""A detector: one trained method with all that is needed to score new rows, and its saved form.

A saved detector is a folder: detector.json for people, detector.safetensors for what was learned,
never pickle. Both files hold the facts: two files that do not belong together, or that were changed
by hand, are refused.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant._internal.files import write_atomically
from locant._internal.threads import one_thread
from locant.anomaly.detector.calibration import Calibration
from locant.anomaly.detector.detection import Chosen, Detection, Trial, find_events
from locant.anomaly.detector.methods import Candidate
from locant.anomaly.detector.methods.base import Method
from locant.anomaly.detector.residuals import Residuals, compute_residuals
from locant.anomaly.detector.segments import Segment, TimeAxis
from locant.anomaly.detector.threshold import CleanScores, Threshold
from locant.anomaly.metrics.smoothing import smooth
from locant.anomaly.series import Series
from locant.anomaly.series.units import Units
from locant.lab.training.checkpoint import read_tensors, with_prefix, write_tensors

FACTS, TENSORS, FORMAT = "detector.json", "detector.safetensors", "locant detector 2"


@dataclass(frozen=True, eq=False)
class Detector:
    """What was learned from clean rows. `detect` scores any series with the same columns."""

    names: tuple[str, ...]
    candidate: Candidate
    method: Method
    units: Units
    time_axis: TimeAxis
    calibration: Calibration
    chosen: Chosen
    trials: tuple[Trial, ...]
    recent: Segment  # the last rows that were learned from, in their own units, for streams

    def detect(self, series: Series) -> Detection:
        """Detect anomalies in a series that was not learned from."""
        self.check(series.names, len(series.values))
        positions = self.time_axis.positions(series.times, len(series.values))
        limit = self.calibration.limit
        with one_thread():
            found = compute_residuals(self.method, self.units, series.values, positions, limit)
            return self.detection_of(series, found)

    def detection_of(self, series: Series, found: Residuals) -> Detection:
        """Turn residuals into scores and events."""
        width = self.chosen.smooth
        residual = found.residual / self.calibration.scale
        by_column, expected = smooth(residual, width), self.units.back(found.expected)
        events = find_events(series, expected, by_column, residual, self.calibration, width)
        return Detection(
            series,
            by_column.max(1),
            by_column,
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
    if readable != facts or facts.get("format") != FORMAT:
        raise ValueError(
            f"{folder}: its two files are not of one detector ({FORMAT}). Save the detector again."
        )
    return _restored(facts, tensors)


def _facts(detector: Detector) -> dict[str, Any]:
    """Describe a detector in plain values."""
    known, axis = detector.calibration, detector.time_axis
    dated = isinstance(axis.start, np.datetime64)
    start = axis.start
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
        "odd": known.outlier,
        "clock": {"start": start, "dated": dated, "step": axis.step, "rows": axis.rows},
        "self_test": [asdict(trial) for trial in detector.trials],
    }


def _tensors(detector: Detector) -> dict[str, Tensor]:
    """Collect the numbers of a detector by name."""
    known = detector.calibration
    arrays = {"middle": detector.units.middle, "size": detector.units.size, "usual": known.scale}
    for name, scores in known.scores._asdict().items():
        if scores is not None:
            arrays[f"{name} scores"] = scores
    arrays |= {"recent": detector.recent.values, "recent at": detector.recent.positions}
    learned = {f"method/{name}": value for name, value in detector.method.state().items()}
    return {**{name: torch.from_numpy(value) for name, value in arrays.items()}, **learned}


def _restored(facts: dict[str, Any], tensors: dict[str, Tensor]) -> Detector:
    """Make a detector from its facts and tensors."""
    candidate = Candidate(**facts["candidate"])
    method = candidate.make()
    method.restore(with_prefix(tensors, "method/"))
    arrays = {name: value.numpy() for name, value in tensors.items() if "/" not in name}
    scores = CleanScores(arrays["held_out scores"], arrays.get("fitted scores"))
    threshold = Threshold(**facts["threshold"])
    clock = facts["clock"]
    start = np.datetime64(clock["start"], "ns") if clock["dated"] else clock["start"]
    return Detector(
        tuple(facts["columns"]),
        candidate,
        method,
        Units(arrays["middle"], arrays["size"]),
        TimeAxis(start, clock["step"], clock["rows"]),
        Calibration(arrays["usual"], facts["limit"], facts["odd"], scores, threshold),
        Chosen(**{**facts["chosen"], "why": tuple(facts["chosen"]["why"])}),
        tuple(Trial(**trial) for trial in facts["self_test"]),
        Segment(arrays["recent"], arrays["recent at"]),
    )
