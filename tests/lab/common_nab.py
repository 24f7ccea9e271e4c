"""A small folder of real-looking series in NAB's layout: GROUP/SERIES.csv, and windows.json with
what is wrong in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

ROWS, FAULT = 320, (200, 230)
SMALL = {"length": 16, "width": 4}  # options of the task that fit such a series
START = np.datetime64("2014-02-14T00:00:00")


def write_nab(folder: Path, *, even: int = 2, uneven: int = 1, rows: int = ROWS) -> Path:
    """Waves with a fault that is marked, at even and at uneven times; one more that nobody
    marked."""
    draw = np.random.default_rng(0)
    marks = {"other/calm.csv": [], "other/absent.csv": [["2014-02-14", "2014-02-15"]]}
    kinds = [f"even/{number}.csv" for number in range(even)] + [
        f"uneven/{number}.csv" for number in range(uneven)
    ]
    for name in [*kinds, "other/calm.csv"]:
        gaps = draw.choice([1, 1, 1, 4], rows) if name.startswith("uneven") else np.ones(rows, int)
        times = START + np.cumsum(gaps) * np.timedelta64(300, "s")
        values = np.sin(np.arange(rows) * 2 * np.pi / 32) + draw.normal(0, 0.1, rows)
        if name in kinds:
            values[FAULT[0] : FAULT[1]] += 3.0
            marks[name] = (
                [[str(times[FAULT[0]]), str(times[FAULT[1] - 1])]]
                if rows > FAULT[1]
                else [[str(times[0])] * 2]
            )
        write_series(folder / name, times, values)
    (folder / "windows.json").write_text(json.dumps(marks))
    return folder


def write_series(path: Path, times: np.ndarray, values: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{str(time).replace('T', ' ')},{value:.4f}"
        for time, value in zip(times, values, strict=True)
    ]
    path.write_text("\n".join(["timestamp,value", *lines]) + "\n")


def mark(folder: Path, name: str, windows: list[list[str]]) -> None:
    """Change what is marked in one series."""
    path = folder / "windows.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: windows}))
