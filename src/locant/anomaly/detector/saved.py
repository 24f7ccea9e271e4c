"""A detector in a folder: detector.json for people, detector.safetensors for what was learnt. Never pickle.

Both files hold the facts: two that do not belong together, or were changed by hand, are not taken for a detector.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from locant._internal.files import write_atomically
from locant.anomaly.detector.calibration import Calibration
from locant.anomaly.detector.candidates import Candidate
from locant.anomaly.detector.clock import Clock
from locant.anomaly.detector.detection import Chosen, Threshold, Trial
from locant.anomaly.detector.detector import Detector
from locant.anomaly.detector.method import Stretch
from locant.anomaly.detector.thresholds import CleanScores
from locant.lab.tasks._units import Units
from locant.lab.training.checkpoint import part, read_tensors, write_tensors

FACTS, NUMBERS, FORMAT = "detector.json", "detector.safetensors", "locant detector 2"


def save(detector: Detector, folder: str | Path) -> Path:
    """Write a detector into a folder; it is made when it is not there."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise ValueError(f"{folder} is a file. A detector is saved in a folder: name another.")
    facts = json.loads(json.dumps(_facts(detector)))
    write_tensors(place / NUMBERS, _tensors(detector), facts)
    with write_atomically(place / FACTS) as half:
        half.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return place


def load(folder: str | Path) -> Detector:
    """Read a detector that was saved, or say what is wrong with it."""
    place = Path(folder).expanduser()
    if not (place / FACTS).is_file() or not (place / NUMBERS).is_file():
        raise ValueError(
            f"{folder} is no saved detector: a folder with {FACTS} and {NUMBERS} is.\n"
            "  Make one: locant detect mine.csv --save FOLDER"
        )
    tensors, facts = read_tensors(place / NUMBERS)
    try:
        told = json.loads((place / FACTS).read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(
            f"{place / FACTS} is damaged: it is no JSON. Save the detector again."
        ) from None
    if told != facts or facts.get("format") != FORMAT:
        raise ValueError(
            f"{folder}: its two files are not of one detector ({FORMAT}). Save the detector again."
        )
    return _detector(facts, tensors)


def _facts(detector: Detector) -> dict[str, Any]:
    known, clock = detector.calibration, detector.clock
    dated = isinstance(clock.start, np.datetime64)
    start = int(clock.start.astype("datetime64[ns]").astype(np.int64)) if dated else clock.start
    return {
        "format": FORMAT,
        "columns": list(detector.names),
        "candidate": asdict(detector.candidate),
        "chosen": asdict(detector.chosen),
        "threshold": asdict(known.threshold),
        "limit": known.limit,
        "odd": known.odd,
        "clock": {
            "start": None if start is None else float(start) if not dated else start,
            "dated": dated,
        }
        | {"step": clock.step, "rows": clock.rows},
        "self_test": [asdict(trial) for trial in detector.trials],
    }


def _tensors(detector: Detector) -> dict[str, Tensor]:
    known = detector.calibration
    arrays = {"middle": detector.units.middle, "size": detector.units.size, "usual": known.usual}
    arrays |= {
        f"{name} scores": some for name, some in known.scores._asdict().items() if some is not None
    }
    arrays |= {"recent": detector.recent.values, "recent at": detector.recent.at}
    learnt = {f"method/{name}": value for name, value in detector.method.state().items()}
    return {**{name: torch.from_numpy(value) for name, value in arrays.items()}, **learnt}


def _detector(facts: dict[str, Any], tensors: dict[str, Tensor]) -> Detector:
    candidate = Candidate(**facts["candidate"])
    method = candidate.make()
    method.restore(part(tensors, "method/"))
    numbers = {name: value.numpy() for name, value in tensors.items() if "/" not in name}
    threshold = Threshold(**facts["threshold"])
    scores = CleanScores(numbers["held_out scores"], numbers.get("fitted scores"))
    start = facts["clock"]["start"]
    start = np.datetime64(start, "ns") if facts["clock"]["dated"] else start
    return Detector(
        tuple(facts["columns"]),
        candidate,
        method,
        Units(numbers["middle"], numbers["size"]),
        Clock(start, facts["clock"]["step"], facts["clock"]["rows"]),
        Calibration(numbers["usual"], facts["limit"], facts["odd"], scores, threshold),
        Chosen(**{**facts["chosen"], "why": tuple(facts["chosen"]["why"])}),
        tuple(Trial(**trial) for trial in facts["self_test"]),
        Stretch(numbers["recent"], numbers["recent at"]),
    )
