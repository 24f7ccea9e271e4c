"""Run the notebooks of the course and the demo of examples/, and keep or compare their outputs.

python course/run.py                 # run every notebook and write its outputs into it
python course/run.py --check         # run every notebook; fail where an output has changed
python course/run.py 01 --check      # only those whose names begin with 01

A printed number has moved when it differs by more than two units of its last digit. Pictures are
drawn anew, not compared.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

HOME = Path(__file__).parent
DEMO = HOME.parent / "examples" / "demo.ipynb"
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
SECONDS = 900  # for one cell


def notebooks(*beginnings: str) -> list[Path]:
    """List the notebooks whose names begin with one of the words; all by default."""
    found = [*sorted(HOME.glob("*.ipynb")), DEMO]
    if not beginnings:
        return found
    chosen = [path for path in found if path.name.startswith(beginnings)]
    if not chosen:
        names = ", ".join(path.name for path in found)
        raise SystemExit(f"no notebook begins with {' or '.join(beginnings)}. There are: {names}")
    return chosen


def run(path: Path) -> NotebookNode:
    """Run a notebook from its first cell on, in an empty folder; return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    os.environ["OMP_NUM_THREADS"] = "1"  # of the kernel: the same sums on every machine
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=SECONDS, resources=place, record_timing=False).execute()
    return notebook


def outputs(notebook: NotebookNode) -> list[list[str]]:
    """Return what each cell printed, line by line; a picture counts as one line."""
    printed = []
    for cell in notebook.cells:
        text = ""
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                text += "\na picture\n"
            elif "data" in output:
                text += output.data.get("text/plain", "") + "\n"
            elif output.get("name") == "stdout":
                text += output.text  # what one cell prints may come in several pieces
        printed.append([line for line in text.splitlines() if line.strip()])
    return printed


def moved(kept: str, now: str) -> bool:
    """Say whether a printed line differs in its words, or in a number by more than its last digit.

    >>> moved("loss 0.512", "loss 0.511"), moved("loss 0.512", "loss 0.52"), moved("a", "b")
    (False, True, True)
    """
    if NUMBER.sub("#", kept) != NUMBER.sub("#", now):
        return True
    pairs = zip(NUMBER.findall(kept), NUMBER.findall(now), strict=True)
    return any(abs(_value(a) - _value(b)) > 2.5 * _last_digit(a) for a, b in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _last_digit(number: str) -> float:
    """One unit of the last digit that is printed; nothing for a whole number.

    >>> _last_digit("0.512"), _last_digit("5e-07"), _last_digit("12")
    (0.001, 5e-07, 0.0)
    """
    mantissa, _, exponent = number.replace(",", "").partition("e")
    if exponent:
        return abs(_value(number))  # a tiny number: its order of magnitude counts
    digits = len(mantissa.partition(".")[2])
    return 10.0**-digits if digits else 0.0


def changes(kept: NotebookNode, now: NotebookNode) -> list[str]:
    """List the lines that differ between two runs of a notebook, with the cell they belong to."""
    found = []
    for number, (old, new) in enumerate(zip(outputs(kept), outputs(now), strict=True)):
        if len(old) != len(new):
            found.append(f"cell {number}: {len(old)} lines are kept, {len(new)} were printed")
        for one, other in zip(old, new, strict=False):
            if moved(one, other):
                found.append(f"cell {number}: kept {one!r}\n           now {other!r}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebook", nargs="*", help="the beginning of a name; all by default")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    asked = parser.parse_args()
    failed = False
    for path in notebooks(*asked.notebook):
        started = time.monotonic()
        now = run(path)
        found = changes(nbformat.read(path, as_version=4), now) if asked.check else []
        if not asked.check:
            nbformat.write(now, path)
        print(f"{path.name}: {time.monotonic() - started:.0f} s", *found, sep="\n  ", flush=True)
        failed = failed or bool(found)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
