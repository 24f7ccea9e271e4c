"""Pack finished studies into one small file that can be sent: JSON, compressed. No torch.

The file holds every score of every run, validations and costs to five figures, and for pictures the
notes of each entrant's first reported seed, in 32 shades.
"""

from __future__ import annotations

import atexit
import gzip
import json
import shutil
import tempfile
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from locant._internal.files import write_atomically
from locant.lab.store.note_arrays import in_bytes, in_fewer_shades
from locant.lab.store.store import Store, StudyEntry
from locant.lab.study import FIRST_SEARCH_SEED
from locant.lab.training.run_result import RunResult

FORMAT = "locant studies 1"


def pack(store: Store, ids: list[str], path: Path) -> None:
    """Write the studies of a store that have these ids to a file."""
    studies = [entry for entry in store.studies() if entry.id in ids]
    runs: dict[tuple[str, str], RunResult] = {}
    for entry in studies:
        with_notes = set()  # names of the entrants whose notes are in already
        for digest, code in entry.run_keys():
            run = store.find(digest, code)
            if run is None or (digest, code) in runs:
                continue
            name, reported = run.config["name"], run.config["seed"] < FIRST_SEARCH_SEED
            notes = in_fewer_shades(run.notes) if reported and name not in with_notes else {}
            runs[digest, code] = _shortened(run, notes)
            if reported:
                with_notes.add(name)
    _write(path, studies, list(runs.values()))


def pack_runs(runs: list[RunResult], path: Path) -> None:
    """Write runs of studies that are not finished to a file, so that they can go on elsewhere."""
    _write(path, [], [_shortened(run, {}) for run in runs])


def _shortened(run: RunResult, notes: dict[str, Any]) -> RunResult:
    """Return a run with these notes, its validations and costs to five figures."""
    history = [_rounded(line) for line in run.history]
    return replace(run, notes=notes, history=history, cost=_rounded(run.cost))


def _write(path: Path, studies: list[StudyEntry], runs: list[RunResult]) -> None:
    packed = {
        "format": FORMAT,
        "studies": [asdict(entry) for entry in studies],
        "runs": [asdict(run) for run in runs],
    }
    with (
        write_atomically(path) as partial,
        partial.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file,
    ):
        file.write(json.dumps(packed).encode())


def _rounded(line: dict[str, float]) -> dict[str, float]:
    """Round the numbers of a line to five figures.

    >>> _rounded({"step": 25, "loss": 0.69314718})
    {'step': 25, 'loss': 0.69315}
    """
    return {
        name: value if isinstance(value, int) else float(f"{value:.5g}")
        for name, value in line.items()
    }


def unpack(path: Path, store: Store | None = None) -> Store:
    """Read a file of packed studies into a store; by default one that lasts as long as this
    process."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            packed = json.load(file)
        if packed.get("format") != FORMAT:
            raise ValueError(f"its format is {packed.get('format')!r}")
        runs = [RunResult(**{**run, "notes": in_bytes(run["notes"])}) for run in packed["runs"]]
        studies = [StudyEntry(**entry) for entry in packed["studies"]]
        for entry in studies:
            if not {"name", "title"} <= set(entry.study) or "facts" not in entry.choices:
                raise ValueError("a study in it has no name, title or facts")
    except (
        OSError,
        EOFError,
        zlib.error,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as problem:
        raise ValueError(
            f"{path} cannot be read as packed studies ({FORMAT}): {problem}."
        ) from None
    if store is None:
        folder = Path(tempfile.mkdtemp(prefix="locant-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        store = Store(folder / "runs.sqlite")
    store.keep(*runs)
    for entry in reversed(studies):
        store.keep_study(
            entry.id, entry.study, entry.choices, entry.runs, entry.command, entry.finished
        )
    return store
