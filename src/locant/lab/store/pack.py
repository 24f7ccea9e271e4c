"""Finished studies in one small file that can be sent or kept beside a text: JSON, compressed. No torch.

Every score of every run is in it; validations and costs to five figures; and for pictures the notes of each row's first
reported seed, in 32 shades.
"""

from __future__ import annotations

import atexit
import base64
import gzip
import json
import shutil
import tempfile
import zlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from locant._internal.files import write_atomically
from locant.lab.store.store import Kept, Store, named
from locant.lab.store.study import FIRST_SEARCH_SEED

FORMAT = "locant studies 1"
LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUV"  # one for each of 32 shades
TO_LETTER = bytes(LETTERS[round(value * 31 / 255)] for value in range(256))
FROM_LETTER = bytes(round(max(0, LETTERS.find(letter)) * 255 / 31) for letter in range(256))


def pack(store: Store, ids: list[str], path: Path) -> None:
    """Write the studies of a store to a file."""
    studies = [entry for entry in store.studies() if entry["id"] in ids]
    runs: dict[tuple[str, str], Kept] = {}
    for entry in studies:
        drawn = set()  # rows whose notes are in already
        for digest, code in named(entry):
            run = store.find(digest, code)
            if run is None or (digest, code) in runs:
                continue
            name, reported = run.config["name"], run.config["seed"] < FIRST_SEARCH_SEED
            notes = in_fewer_shades(run.notes) if reported and name not in drawn else {}
            history = [_rounded(line) for line in run.history]
            runs[digest, code] = replace(run, notes=notes, history=history, cost=_rounded(run.cost))
            drawn |= {name} if reported else set()
    text = json.dumps(
        {"format": FORMAT, "studies": studies, "runs": [asdict(run) for run in runs.values()]}
    )
    with (
        write_atomically(path) as partial,
        partial.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file,
    ):
        file.write(text.encode())


def _rounded(line: dict[str, float]) -> dict[str, float]:
    """
    >>> _rounded({"step": 25, "loss": 0.69314718})
    {'step': 25, 'loss': 0.69315}
    """
    return {
        name: value if isinstance(value, int) else float(f"{value:.5g}")
        for name, value in line.items()
    }


def in_fewer_shades(notes: dict[str, Any]) -> dict[str, Any]:
    """Write every array of the notes (training/notes.py) as one letter a number, in 32 shades instead of 256.

    Letters compress better than base64, whose characters straddle the bytes.

    >>> note = {"shape": [1, 2], "top": [0.5], "bytes": base64.b64encode(bytes([255, 7])).decode()}
    >>> in_fewer_shades({"attention": note})["attention"]
    {'shape': [1, 2], 'top': [0.5], 'shades': 'V1'}
    >>> list(base64.b64decode(in_bytes(in_fewer_shades({"attention": note}))["attention"]["bytes"]))
    [255, 8]
    """
    return {name: _lettered(note) if _has(note, "bytes") else note for name, note in notes.items()}


def in_bytes(notes: dict[str, Any]) -> dict[str, Any]:
    """Turn letters back into the arrays that notes hold."""
    return {
        name: _unlettered(note) if _has(note, "shades") else note for name, note in notes.items()
    }


def _has(note: Any, key: str) -> bool:
    return isinstance(note, dict) and key in note


def _lettered(note: dict[str, Any]) -> dict[str, Any]:
    letters = base64.b64decode(note["bytes"]).translate(TO_LETTER).decode("ascii")
    return {**{key: value for key, value in note.items() if key != "bytes"}, "shades": letters}


def _unlettered(note: dict[str, Any]) -> dict[str, Any]:
    numbers = note["shades"].encode("ascii").translate(FROM_LETTER)
    kept = {key: value for key, value in note.items() if key != "shades"}
    return {**kept, "bytes": base64.b64encode(numbers).decode("ascii")}


def unpack(path: Path) -> Store:
    """A store, in a folder for the time being, with what a file holds."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            said = json.load(file)
        if said.get("format") != FORMAT:
            raise ValueError(f"its format is {said.get('format')!r}")
        runs = [Kept(**{**run, "notes": in_bytes(run["notes"])}) for run in said["runs"]]
        folder = Path(tempfile.mkdtemp(prefix="locant-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        store = Store(folder / "runs.sqlite")
        store.keep(*runs)
        for entry in reversed(said["studies"]):
            if not {"name", "title"} <= set(entry["study"]) or "facts" not in entry["choices"]:
                raise ValueError("a study in it has no name, title or facts")
            store.keep_study(
                *[entry[key] for key in ("id", "study", "choices", "runs", "command", "finished")]
            )
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
    return store
