"""Tiny .ts files, as aeon ships them, for tests."""

from __future__ import annotations

import numpy as np

HEADER = "# made for tests\n@problemName {name}\n@classLabel true up down\n@data\n"


def write_ts(folder, name="ItalyPowerDemand", *, channels=1, lengths=(12,), train=24, test=30):
    """Two classes that only order tells apart: values that rise, and the same that fall."""
    draw = np.random.default_rng(0)
    for part, count in (("TRAIN", train), ("TEST", test)):
        lines = []
        for number in range(count):
            length = lengths[number % len(lengths)]
            rising = np.sort(draw.normal(size=(channels, length)), 1)
            up = number % 2 == 0
            series = rising if up else rising[:, ::-1]
            texts = [",".join(f"{value:.6f}" for value in channel) for channel in series]
            lines.append(":".join([*texts, "up" if up else "down"]))
        path = folder / name / f"{name}_{part}.ts"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER.format(name=name) + "\n".join(lines) + "\n", encoding="utf-8")
    return folder
