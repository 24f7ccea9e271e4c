"""Copy the tables of docs/performance.md from docs/speed.md, which is what `locant bench` printed.

locant bench --markdown --out docs/pictures/growth.png > docs/speed.md
python docs/make_speed.py
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).parent
SHOWN, MEASURED = HOME / "performance.md", HOME / "speed.md"
BEGIN, END = "<!-- made by docs/make_speed.py -->\n", "<!-- end -->\n"
ROTATION, BIAS = "Rotating q and k, (8, 8, {}, 64)", "Attention with a bias"
TOKEN, STEP, SWEEP = "One new token", "Training steps", "A textbook loop's time"
BOTH, FASTER = "forward + backward", "times as fast as a textbook loop"


class Quoted(NamedTuple):
    """A line of the page's first table: what it says, and where its number stands (a row by how its
    name begins)."""

    work: str
    unit: str
    table: str
    row: str
    column: str


QUOTED = [
    *(
        Quoted(
            f"q and k (8, 8, {length}, 64) rotated, {who}",
            "× memcpy",
            ROTATION.format(length),
            row,
            BOTH,
        )
        for length in (512, 2048)
        for who, row in {
            "interleaved pairs": "locant, interleaved",
            "half pairs": "locant, half",
            "half pairs, transformers": "transformers",
        }.items()
    ),
    *(
        Quoted(f"{line}, {length} tokens", "× plain attention", BIAS, line, length)
        for line, length in {
            "t5, causal": "8,192",
            "relative, causal": "8,192",
            "alibi, causal": "8,192",
            "t5, both sides": "4,096",
            "relative, both sides": "4,096",
            "t5, causal, uneven positions": "4,096",
            "relative, both sides, uneven positions": "4,096",
            "relative, both sides, uneven positions, no distance clipped": "4,096",
            "alibi, both sides, real time stamps": "4,096",
            "t5, causal, materialized": "4,096",
        }.items()
    ),
    *(
        Quoted(f"one new token over 8,192 cached keys, {row}", "× none", TOKEN, row, "× none")
        for row in ("rotary", "t5", "pope", "none, copied")
    ),
    Quoted("a training step, study A", FASTER, STEP, "study A", "textbook's step, × ours"),
    Quoted("a training step, study B", FASTER, STEP, "study B", "textbook's step, × ours"),
    Quoted(
        "two models of study A, two cores",
        FASTER,
        SWEEP,
        "study A, 2 models, there on one core",
        "× as fast",
    ),
    Quoted(
        "two models of study B, two cores",
        FASTER,
        SWEEP,
        "study B, 2 models, there on one core",
        "× as fast",
    ),
]


def section(told: str) -> str:
    """What the page shows: when and on what, the numbers that matter most, and attention by
    length."""
    first, *tables = told.split("\n### ")
    lines = [f"| {one.work} | {number(tables, one)} | {one.unit} |" for one in QUOTED]
    title, rest = find(tables, BIAS).strip().split("\n", 1)
    return "\n".join(
        [
            first.strip() + ".\n",
            "| work | here | |",
            "|---|---|---|",
            *lines,
            f"\n**{title}**\n{rest}\n",
        ]
    )


def number(tables: list[str], quoted: Quoted) -> str:
    """The cell that a line quotes."""
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in find(tables, quoted.table).split("\n")
    ]
    heads, *rows = (row for row in cells if row)
    named = [row for row in rows if row[0] == quoted.row] or [
        row for row in rows if row[0].startswith(quoted.row)
    ]
    if not named or quoted.column not in heads:
        raise SystemExit(
            f"{MEASURED} lacks {quoted.row!r} under {quoted.column!r}: run all of locant bench."
        )
    return named[0][heads.index(quoted.column)]


def find(tables: list[str], start: str) -> str:
    found = [table for table in tables if table.startswith(start)]
    if not found:
        raise SystemExit(
            f"{MEASURED} lacks a table that begins with {start!r}: run all of locant bench."
        )
    return found[0]


def renewed(page: str, told: str) -> str:
    """The page with its section made anew."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + section(told) + END + rest.split(END, 1)[1]


def main() -> None:
    SHOWN.write_text(
        renewed(SHOWN.read_text(encoding="utf-8"), MEASURED.read_text(encoding="utf-8")),
        encoding="utf-8",
    )
    print(f"{SHOWN.name}: {len(QUOTED)} numbers of {MEASURED.name}")


if __name__ == "__main__":
    main()
