"""A study small enough to be run many times, and the command line that runs it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

TINY = """
title = "tiny"
task = "order"
task_options = { length = 6, symbols = 5 }
encodings = ["rotary", "t5"]
seeds = 2
[model]
dim = 8
heads = 2
layers = 1
ffn = 8
[training]
steps = 12
batch = 4
warm_up = 4
validate_every = 6
validation = 16
test = 32
"""
LOCANT = Path(sys.executable).with_name("locant")


def write_tiny(folder: Path, more: str = "") -> Path:
    path = folder / "tiny.toml"
    path.write_text(TINY + more)
    return path


def start(folder: Path, *words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [LOCANT, "compare", "tiny.toml", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(folder: Path, *words: str, status: int = 0) -> str:
    process = start(folder, *words)
    out, err = process.communicate(timeout=600)
    assert process.returncode == status, err
    assert "Traceback" not in err
    return out + err


def kept(
    folder: Path, store: str = "locant-results/runs.sqlite"
) -> dict[str, tuple[str, str, str]]:
    """What the store holds of every run: all that must be the same, however often it was
    interrupted."""
    with sqlite3.connect(folder / store) as base:
        try:
            rows = base.execute(
                "SELECT digest, config, status, metrics || history FROM runs"
            ).fetchall()
        except sqlite3.OperationalError:  # not a table yet
            rows = []
    return {digest: rest for digest, *rest in rows}
