"""Read labeled series from .ts files, as the package aeon ships them: a header, then one line each.

A line holds the channels of a series, separated by colons, then its class; a channel is numbers
with commas. Series of one file may differ in length. aeon itself is not imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.lab.tasks import TS_FOLDER

AEON_DATA = ("datasets", "data")  # where aeon keeps its files


class LabeledSeries(NamedTuple):
    """Series (N,T,channels), padded with 0 behind; their lengths (N); their classes (N)."""

    values: NDArray[np.float32]
    lengths: NDArray[np.int64]
    labels: NDArray[np.int64]


class DataSet(NamedTuple):
    """The parts of a data set as they were published, the names of its classes, and a digest."""

    train: LabeledSeries
    test: LabeledSeries
    classes: tuple[str, ...]
    digest: str


def data_folder() -> Path:
    """Return the folder of the .ts files: that of LOCANT_TS, else that of an installed aeon."""
    named = os.environ.get(TS_FOLDER)
    if named:
        return Path(named).expanduser()
    found = importlib.util.find_spec("aeon")
    if found is None or not found.submodule_search_locations:
        raise ValueError(
            "these series ship inside the package aeon, which is not installed here.\n"
            "  Install aeon, or set "
            f"{TS_FOLDER} to a folder with NAME/NAME_TRAIN.ts and NAME/NAME_TEST.ts."
        )
    return Path(next(iter(found.submodule_search_locations))).joinpath(*AEON_DATA)


def read_data_set(name: str) -> DataSet:
    """Read a data set by its name, such as ItalyPowerDemand."""
    return _read_data_set(name, data_folder())


@lru_cache(maxsize=2)
def _read_data_set(name: str, folder: Path) -> DataSet:
    texts = []
    for part in ("TRAIN", "TEST"):
        path = folder / name / f"{name}_{part}.ts"
        if not path.is_file():
            known = sorted(one.parent.name for one in folder.glob("*/*_TRAIN.ts"))
            raise ValueError(
                f"there is no {path}.\n  Data sets there: {', '.join(known) or 'none'}"
            )
        texts.append(path.read_text(encoding="utf-8"))
    parts = [_parse(text, name) for text in texts]
    classes = tuple(sorted({label for _, labels in parts for label in labels}))
    longest = max(len(one) for series, _ in parts for one in series)
    train, test = (_padded(series, labels, classes, longest) for series, labels in parts)
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    return DataSet(train, test, classes, digest)


def _parse(text: str, name: str) -> tuple[list[NDArray[np.float32]], list[str]]:
    """Parse the lines behind @data: series (T, channels), and their classes."""
    lines = [line.strip() for line in text.splitlines()]
    start = next((n for n, line in enumerate(lines) if line.lower() == "@data"), None)
    if start is None:
        raise ValueError(f"{name} is no .ts file: it has no line @data.")
    series, labels = [], []
    for number, line in enumerate(lines[start + 1 :], start + 2):
        if not line:
            continue
        *channels, label = line.split(":")
        try:
            values = [[float(one) for one in channel.split(",")] for channel in channels]
            series.append(np.array(values, np.float32).T)
        except ValueError:
            raise ValueError(
                f"line {number} of {name} has a value that is no number, or channels of different "
                "lengths."
            ) from None
        labels.append(label)
    return series, labels


def _padded(
    series: list[NDArray[np.float32]], labels: list[str], classes: tuple[str, ...], longest: int
) -> LabeledSeries:
    values = np.zeros((len(series), longest, series[0].shape[1]), np.float32)
    for row, one in zip(values, series, strict=True):
        row[: len(one)] = one
    numbers = np.array([classes.index(label) for label in labels], np.int64)
    return LabeledSeries(values, np.array([len(one) for one in series], np.int64), numbers)
