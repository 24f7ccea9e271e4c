"""Copy README's tables of speed from docs/speed.md, which is what `locant bench` printed.

locant bench --markdown --picture docs/pictures/growth.png > docs/speed.md
python docs/make_speed.py
"""

from __future__ import annotations

from pathlib import Path

HOME = Path(__file__).parent
README, MEASURED = HOME.parent / "README.md", HOME / "speed.md"
BEGIN, END = "<!-- made by docs/make_speed.py -->\n", "<!-- end -->\n"
SHOWN = ("Rotating q and k, (8, 8, 512, 64)", "Attention with a bias", "A textbook loop's time")


def section(told: str) -> str:
    """What README shows: the first line, which says when and on what, and some of the tables."""
    first, *tables = told.split("\n### ")
    shown = [table.strip() for start in SHOWN for table in tables if table.startswith(start)]
    if len(shown) != len(SHOWN):
        raise SystemExit(f"{MEASURED} lacks a table: run all of locant bench.")
    heads = [f"**{title}**\n{rest}" for title, rest in (table.split("\n", 1) for table in shown)]
    return "\n\n".join([first.strip() + ".", *heads]) + "\n"


def renewed(readme: str, told: str) -> str:
    """README with its section made anew."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + section(told) + END + rest.split(END, 1)[1]


def main() -> None:
    README.write_text(
        renewed(README.read_text(encoding="utf-8"), MEASURED.read_text(encoding="utf-8")), encoding="utf-8"
    )
    print(f"README.md: {len(SHOWN)} tables of {MEASURED.name}")


if __name__ == "__main__":
    main()
