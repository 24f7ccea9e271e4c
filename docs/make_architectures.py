"""Read every text architecture of the installed transformers, compare it with its model, and write
docs/architectures.md.

    python docs/make_architectures.py [--out docs/architectures.md]

Each model is built tiny, with random weights, in a few minutes altogether.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from transformers.utils import logging

from locant.hf.reading.architectures import Architecture, examine, text_types
from locant.hf.reading.proof import TOLERANCE

PAGE = """\
# Architectures: what locant.hf reads

Made by `python docs/make_architectures.py` with transformers {version}. Nothing in this table is typed.

`locant.hf.read_config(config)` gives one encoding for each layer, `locant.hf.read(model)` the same with the weights
that a model learned. Each of the {types} text model types of transformers was built tiny (six layers, random weights)
and read; then its own layers were run with locant's encodings in the place of its rotary functions, tables or biases.
*Difference* is the largest difference of logits in float32 (at most {tolerance:g}), at uneven positions where the
model takes them; *without* is what changes when nothing stands in that place. The numbers of bases and layers are
those of the tiny config.

{compared} were read and compared, {inner} more are read as the text model inside of them, {refused} are refused,
{unbuilt} could not be built here.

## Read

| model type | read as | difference | without |
|---|---|---|---|
{read}

## Read as the text model inside

{inside}

## Refused

| model type | why |
|---|---|
{why}

## Not built

| model type | why |
|---|---|
{not_built}
"""


def entries() -> list[Architecture]:
    """Examine every text model type, telling the progress."""
    found, types = [], text_types()
    for number, model_type in enumerate(types, 1):
        print(f"\r{number}/{len(types)} {model_type:32}", end="", file=sys.stderr, flush=True)
        found.append(examine(model_type))
    print(file=sys.stderr)
    return found


def page(found: list[Architecture]) -> str:
    """Write the page from what was found; a model type that was read wrongly is an error."""
    compared = [one for one in found if one.comparison is not None]
    wrong = [one.model_type for one in compared if not one.comparison.proven]
    if wrong:
        raise SystemExit(f"read wrongly: {', '.join(wrong)}. Nothing was written.")
    counts = Counter(one.outcome for one in found)
    inner = [one for one in found if one.outcome == "read" and one.comparison is None]
    return PAGE.format(
        version=version("transformers"),
        types=len(found),
        tolerance=TOLERANCE,
        compared=len(compared),
        inner=len(inner),
        refused=counts["refused"],
        unbuilt=counts["not built"],
        read="\n".join(_row(one) for one in compared),
        inside=", ".join(f"{one.model_type} ({one.words.rpartition(' ')[2]})" for one in inner),
        why=_reasons(found, "refused"),
        not_built=_reasons(found, "not built"),
    )


def _row(one: Architecture) -> str:
    seen = one.comparison
    assert seen is not None
    without = f"{seen.without:.2g}" if seen.without < float("inf") else "–"
    return f"| {one.model_type} | {one.words} | {seen.difference:.0e} | {without} |"


def _reasons(found: list[Architecture], outcome: str) -> str:
    rows = [one for one in found if one.outcome == outcome]
    return "\n".join(f"| {one.model_type} | {one.words.replace('|', '/')} |" for one in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "architectures.md")
    options = parser.parse_args()
    logging.set_verbosity_error()
    options.out.write_text(page(entries()), encoding="utf-8")
