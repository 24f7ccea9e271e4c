"""Read a folder of labeled series in NAB's layout: FOLDER/GROUP/SERIES.csv, and FOLDER/windows.json
with the anomalies."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series import read_series
from locant.anomaly.series.model_input import Units
from locant.anomaly.series.repairs import since_start
from locant.lab.tasks import NAB

WINDOWS = "windows.json"
LAYOUT = (
    f"Its layout: FOLDER/GROUP/SERIES.csv, and FOLDER/{WINDOWS} with "
    '{"GROUP/SERIES.csv": [[start, end], …], …}'
)
HOW_TO_NAME_IT = f"Name it: locant compare real-anomalies --nab FOLDER, or set {NAB}"


class LabeledSeries(NamedTuple):
    """One series, scaled by itself.

    values     (T,1)
    visible    (T,1), the values as models see them, clipped
    at         (T,), the times of the points in usual steps
    labels     (T,), True where the series is anomalous
    irregular  the share of gaps between points that are not the usual one
    """

    values: NDArray[np.float64]
    visible: NDArray[np.float64]
    at: NDArray[np.float64]
    labels: NDArray[np.bool_]
    irregular: float


def labeled_names(folder: str) -> tuple[str, ...]:
    """List the series of a folder that windows.json has a window for, sorted by name."""
    if not folder:
        raise ValueError(
            "this study needs a folder of real series, and none was given.\n"
            f"  {HOW_TO_NAME_IT}.\n  {LAYOUT}"
        )
    if not Path(folder).is_dir():
        raise ValueError(f"there is no folder {folder!r}.\n  {HOW_TO_NAME_IT}.\n  {LAYOUT}")
    windows = _read_windows(folder)
    found = [name for name, some in windows.items() if some and Path(folder, name).is_file()]
    if not found:
        raise ValueError(
            f"the folder {folder} has no labeled series: {WINDOWS} has {len(windows)} names, and "
            f"none of them is a file there with a window.\n  {LAYOUT}"
        )
    return tuple(sorted(found))


def _read_windows(folder: str) -> dict[str, Any]:
    """Read the anomalous windows of every series."""
    path = Path(folder, WINDOWS)
    if not path.is_file():
        raise ValueError(
            f"the folder {folder} has no {WINDOWS}, so nothing in it is labeled.\n  {LAYOUT}"
        )
    try:
        windows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise ValueError(f"{path} is not valid JSON: {problem}.\n  {LAYOUT}") from None
    if not isinstance(windows, dict):
        raise ValueError(f"{path} does not map names of series to windows.\n  {LAYOUT}")
    return windows


def folder_digest(folder: str, names: tuple[str, ...]) -> str:
    """Compute the digest of the series of a folder and their windows."""
    digest = hashlib.sha256()
    for name in (WINDOWS, *names):
        content = Path(folder, name).read_bytes()
        digest.update(f"{name}/{len(content)}/".encode() + content)
    return digest.hexdigest()[:16]


@lru_cache(maxsize=64)
def read_labeled(folder: str, name: str, _digest: str) -> LabeledSeries:
    """Read one series of a folder; the digest of the folder keeps the cache honest."""
    series = read_series(Path(folder, name), windows=Path(folder, WINDOWS))
    if len(series.names) != 1:
        raise ValueError(
            f"{name} has {len(series.names)} columns of values. A series of this layout has one."
        )
    if series.labels is None or series.labels.all() or not series.labels.any():
        raise ValueError(
            f"{WINDOWS} marks none or all of the rows of {name}. Correct its windows, or leave "
            "the series out."
        )
    step = series.summary.step
    if series.times is None or not step:
        at = np.arange(len(series.values), dtype=np.float64)
    else:
        at = since_start(series.times) / step
    units = Units.of(series.values)
    return LabeledSeries(
        units.scaled(series.values),
        units.seen(series.values),
        at,
        series.labels,
        series.summary.irregular or 0.0,
    )
