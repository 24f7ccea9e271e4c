"""A folder of labelled series in NAB's layout: FOLDER/GROUP/SERIES.csv, and FOLDER/windows.json with the stretches."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series import read_series
from locant.anomaly.series.repairs import since_start
from locant.lab.tasks import NAB
from locant.lab.tasks._units import Units

WINDOWS = "windows.json"
LAYOUT = f'Its layout: FOLDER/GROUP/SERIES.csv, and FOLDER/{WINDOWS} with {{"GROUP/SERIES.csv": [[start, end], …], …}}'
NAMED = f"Name it: locant compare real-anomalies --nab FOLDER, or set {NAB}"


class Labelled(NamedTuple):
    """One series, in units of its own: values (T,1), and as models are shown them, without what lies far out.

    at         where they are, in usual steps, (T,)
    labels     what is anomalous, (T,)
    irregular  the share of gaps that are not the usual one
    """

    values: NDArray[np.float64]
    seen: NDArray[np.float64]
    at: NDArray[np.float64]
    labels: NDArray[np.bool_]
    irregular: float


def labelled(folder: str) -> tuple[str, ...]:
    """The series of a folder that windows.json names a stretch for, in the order of their names."""
    if not folder:
        raise ValueError(
            f"this study is made on a folder of real series, and none is given.\n  {NAMED}.\n  {LAYOUT}"
        )
    if not Path(folder).is_dir():
        raise ValueError(f"there is no folder {folder!r}.\n  {NAMED}.\n  {LAYOUT}")
    path = Path(folder, WINDOWS)
    if not path.is_file():
        raise ValueError(
            f"the folder {folder} has no {WINDOWS}, so that nothing in it is labelled.\n  {LAYOUT}"
        )
    try:
        windows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise ValueError(f"{path} is no whole JSON: {problem}.\n  {LAYOUT}") from None
    if not isinstance(windows, dict):
        raise ValueError(f"{path} holds no series by name.\n  {LAYOUT}")
    found = tuple(
        sorted(name for name, some in windows.items() if some and Path(folder, name).is_file())
    )
    if not found:
        raise ValueError(
            f"the folder {folder} has no labelled series: {WINDOWS} has {len(windows)} names, and none of them is a file "
            f"there that has a stretch.\n  {LAYOUT}"
        )
    return found


def digest(folder: str, names: tuple[str, ...]) -> str:
    """Of all that the series and their windows hold."""
    whole = hashlib.sha256()
    for name in (WINDOWS, *names):
        content = Path(folder, name).read_bytes()
        whole.update(f"{name}/{len(content)}/".encode() + content)
    return whole.hexdigest()[:16]


@lru_cache(maxsize=64)
def read(folder: str, name: str, _digest: str) -> Labelled:
    """One series of a folder that holds what the digest says."""
    series = read_series(Path(folder, name), windows=Path(folder, WINDOWS))
    if len(series.names) != 1:
        raise ValueError(
            f"{name} has {len(series.names)} columns of values. A series of this layout has one."
        )
    if series.labels is None or series.labels.all() or not series.labels.any():
        raise ValueError(
            f"{WINDOWS} marks none or all of the rows of {name}. Correct its stretches, or leave it out."
        )
    rows, step = len(series.values), series.summary.step
    at = (
        np.arange(rows, dtype=np.float64)
        if series.times is None or not step
        else since_start(series.times) / step
    )
    units = Units.of(series.values)
    return Labelled(
        units.scaled(series.values),
        units.seen(series.values),
        at,
        series.labels,
        series.summary.irregular or 0.0,
    )
