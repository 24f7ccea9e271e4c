"""Prove that the code of today trains to the same bits as an earlier revision.

A run is known by its settings and by the code that decides it, so a renamed function makes kept
runs foreign although nothing that they computed has changed. This script trains short versions of
the shipped studies with both revisions, on this machine, through the command line that both have.
Where every metric and every validation is equal to the last bit, it writes the names of the two
codes to src/locant/lab/training/same_code.json, and kept runs count as runs of today's code.

python benchmarks/same_numbers.py REVISION                  # compare, and write nothing
python benchmarks/same_numbers.py REVISION --write          # and keep the equal ones
python benchmarks/same_numbers.py REVISION --studies order,slot
python benchmarks/same_numbers.py REVISION --encodings rotary,t5   # of the studies that take all
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
SAME = HOME / "src" / "locant" / "lab" / "training" / "same_code.json"
SHORT = ["--seeds", "1", "--set", "training.steps=40", "--set", "training.validate_every=10"]
SHORT += ["--set", "training.validation=64", "--set", "training.test=64", "--set", "longer=false"]
STUDIES = {  # what each study needs beside SHORT; the search of one of them covers abandoned runs
    "order": ["--set", "search.check=0"],
    "slot": ["--set", "search=false"],
    "decoy": ["--set", "search=false"],
    "parity": ["--set", "search=false"],
    "gap": ["--set", "search=false"],
    "anomaly": [
        "--set",
        "search=false",
        "--set",
        "training.validation=4",
        "--set",
        "training.test=1",
    ],
    "byte-lm": ["--set", "search=false"],
}
Run = tuple[str, str, str]  # code, metrics, history


def train(source: Path, study: str, store: Path, encodings: str | None) -> dict[str, Run]:
    """Run the short version of a study with the code in a checkout; its runs by digest."""
    command = "from locant.cli import main; main()"
    words = [sys.executable, "-c", command, "compare", study, *SHORT, *STUDIES[study]]
    file = HOME / "src" / "locant" / "lab" / "studies" / f"{study}.toml"
    if encodings is not None and tomllib.loads(file.read_text("utf-8"))["encodings"] == "all":
        words += ["--encodings", encodings]
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    done = subprocess.run(
        [*words, "--store", str(store)], env=environment, capture_output=True, text=True, cwd=source
    )
    if done.returncode:
        raise SystemExit(f"{study} failed in {source}:\n{done.stderr}")
    with sqlite3.connect(store) as base:
        query = "SELECT digest, code, metrics, history, config FROM runs WHERE status = 'done'"
        found = {digest: (code, *rest) for digest, code, *rest in base.execute(query)}
    return {
        digest: (code, metrics, history) for digest, (code, metrics, history, _) in found.items()
    }


def compare(study: str, old: Path, folder: Path, encodings: str | None) -> dict[str, str]:
    """Train with both revisions; the code of today → the earlier code, where all runs are equal."""
    before = train(old, study, folder / f"{study}-before.sqlite", encodings)
    after = train(HOME, study, folder / f"{study}-after.sqlite", encodings)
    if not set(before) <= set(after):  # encodings that are new since have runs of their own
        raise SystemExit(f"{study}: the two revisions know their settings by different digests.")
    pairs: dict[str, str] = {}
    different = set()
    for digest, (earlier, *earlier_numbers) in before.items():
        code, *numbers = after[digest]
        pairs[code] = earlier
        if numbers != earlier_numbers:
            different.add(code)
    equal = {
        code: earlier
        for code, earlier in pairs.items()
        if code not in different and code != earlier
    }
    print(
        f"{study}: {len(after)} runs, {len(pairs)} codes, {len(different)} with other numbers",
        flush=True,
    )
    return equal


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision")
    parser.add_argument("--studies", default=",".join(STUDIES))
    parser.add_argument("--encodings")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    same: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        git = ["git", "-C", str(HOME), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(old), options.revision], check=True)
        try:
            for study in options.studies.split(","):
                same |= compare(study, old, Path(folder), options.encodings)
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
    if options.write:
        kept = json.loads(SAME.read_text(encoding="utf-8"))
        kept = {code: earlier for code, earlier in kept.items() if earlier not in same.values()}
        text = json.dumps({**kept, **same}, indent=1, sort_keys=True)
        SAME.write_text(text + "\n", encoding="utf-8")
        print(f"wrote {len(same)} codes to {SAME.relative_to(HOME)}")


if __name__ == "__main__":
    main()
