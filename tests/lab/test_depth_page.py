"""docs/make_depth.py: the page says what the runs say, and how few they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from locant.lab.depth import DepthRun, measure

SCRIPT = Path(__file__).parents[2] / "docs" / "make_depth.py"


def script():
    spec = importlib.util.spec_from_file_location("make_depth", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_sets_every_sentence_beside_what_was_measured():
    make = script()
    runs = [
        measure(DepthRun("sinusoidal", layers, seed=seed, steps=1))
        for layers in (1, 2)
        for seed in (0, 1)
    ]
    lost = {**runs[0], "finite": False, "after": None, "seed": 2}
    text = make.page([make._rounded(run) for run in [*runs, lost]])
    for sentence, *_ in make.STATEMENTS:
        assert f"## {sentence}" in text
    assert "3 seeds: no conclusion is possible." in text
    assert "| sinusoidal |" in text
    assert "(1 without)" in text
    accuracy = text.split("## Accuracy")[1].split("## ")[0]
    mean = sum(run["accuracy"] for run in runs[2:]) / 2
    assert f"| {mean:.3f} ±".replace("0.", ".") in accuracy
