"""Tables in a terminal, as wide as it is."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

WORDS = 20  # a cell of so many characters is text, not a number
GAP = 3  # characters between columns


def print_table(
    console: Console, heads: list[str], rows: list[list[str]], *, words: int = WORDS
) -> None:
    """A table, in several parts when its numbers would not fit beside each other; columns of words may be folded."""
    wordy = [any(len(row[place]) >= words for row in rows) for place in range(1, len(heads))]
    parts = [range(1, len(heads))] if any(wordy) else fitting(console.width, heads, rows)
    for part in parts:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column(escape(heads[0]), no_wrap=not any(wordy))
        for place in part:
            table.add_column(
                escape(heads[place]),
                justify="left" if wordy[place - 1] else "right",
                no_wrap=not wordy[place - 1],
            )
        for row in rows:
            table.add_row(*[escape(row[place]) for place in (0, *part)])
        console.print(table)


def fitting(width: int, heads: list[str], rows: list[list[str]]) -> list[range]:
    """Which columns after the first stand beside each other in so many characters.

    >>> fitting(26, ["", "one", "two", "three"], [["rotary", "0.91 ± .01", "0.5", "0.25"]])
    [range(1, 2), range(2, 4)]
    """
    sizes = [max(len(row[place]) for row in [heads, *rows]) + GAP for place in range(len(heads))]
    parts, start = [], 1
    for place in range(2, len(heads) + 1):
        if place == len(heads) or sizes[0] + sum(sizes[start : place + 1]) > width:
            parts.append(range(start, place))
            start = place
    return parts
