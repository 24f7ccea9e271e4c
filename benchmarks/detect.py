"""Benchmark `locant detect` against sub-pca and random scores on labeled series in NAB's layout.

python benchmarks/detect.py --nab FOLDER [--half reported] [--results FILE]      (or LOCANT_NAB)

The settings of `detect` were chosen on one half of the series, told by a hash of their names; what
counts is the other half, `reported`. With --results every series is kept as a line of JSON, and a
second call goes on where the first ended.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np
from _table import table

from locant.anomaly.baselines import load
from locant.anomaly.detector import detect
from locant.anomaly.metrics.smoothing import random_scores, smooth
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.anomaly.metrics.vus_window import vus_window
from locant.anomaly.series import Series, read_series
from locant.lab.statistics.paired import compare

OWN, PLAIN = "locant detect", "sub-pca"


def halves(names: list[str]) -> dict[str, list[str]]:
    """The names in two halves, by their digests."""
    ranked = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    middle = len(ranked) // 2
    return {"settings": sorted(ranked[:middle]), "reported": sorted(ranked[middle:])}


def scored(series: Series) -> dict[str, object]:
    """VUS-PR of everyone on one series."""
    began = time.process_time()
    found = detect(series)
    seconds = time.process_time() - began
    labels, width = series.labels, found.chosen.smooth
    assert labels is not None
    values = (series.values - series.values.mean(0)) / series.values.std(0)
    rough = load("sub_pca").score(values, values)[:, None]
    scores = {
        OWN: found.scores,
        PLAIN: smooth(rough, width)[:, 0],
        "sub-pca, not smoothed": rough[:, 0],
        "random": random_scores(len(values), width),
        "random, not smoothed": random_scores(len(values), 0),
    }
    window = vus_window(series.values)
    evaluation = {name: vus_pr(labels, score, window=window) for name, score in scores.items()}
    return {
        "scores": evaluation,
        "method": found.chosen.method,
        "seconds": seconds,
        "rows": len(values),
    }


def report(done: dict[str, dict[str, object]], half: str) -> None:
    scores = {
        name: np.array([one["scores"][name] for one in done.values()])
        for name in next(iter(done.values()))["scores"]
    }
    rows = []
    for name, values in scores.items():
        apart = compare(scores[OWN], values)
        beside = (
            ""
            if name == OWN
            else f"{apart.mean:+.3f} [{apart.low:+.3f}, {apart.high:+.3f}], p = {apart.p:.3f}"
        )
        rows.append([name, f"{values.mean():.3f}", beside])
    table(f"Mean VUS-PR over {len(done)} series ({half})", ["", "mean", f"{OWN} minus this"], rows)
    methods = [str(one["method"]) for one in done.values()]
    print("chosen:", ", ".join(f"{name} {methods.count(name)}" for name in sorted(set(methods))))
    print(
        f"CPU seconds a series: {np.median([one['seconds'] for one in done.values()]):.0f} (median)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--nab",
        default=os.environ.get("LOCANT_NAB"),
        help="folder with FOLDER/SERIES.csv and windows.json",
    )
    parser.add_argument("--half", choices=("settings", "reported"), default="reported")
    parser.add_argument("--results", type=Path, help="a file to keep results in and to go on from")
    options = parser.parse_args()
    if not options.nab:
        parser.error("name the folder: --nab FOLDER, or set LOCANT_NAB")
    folder = Path(options.nab)
    names = halves([path.relative_to(folder).as_posix() for path in folder.glob("*/*.csv")])[
        options.half
    ]
    kept = (
        options.results.read_text().splitlines()
        if options.results and options.results.exists()
        else []
    )
    done = {one["name"]: one for one in map(json.loads, kept) if one["name"] in names}
    for name in names:
        if name in done:
            continue
        series = read_series(folder / name, windows=folder / "windows.json")
        if series.labels is None or not series.labels.any():
            print(name, "has no labelled window: left out")
            continue
        done[name] = {"name": name, **scored(series)}
        print(
            name,
            done[name]["method"],
            {key: round(value, 3) for key, value in done[name]["scores"].items()},
            flush=True,
        )
        if options.results:
            with options.results.open("a") as file:
                file.write(json.dumps(done[name]) + "\n")
    report(done, options.half)


if __name__ == "__main__":
    main()
