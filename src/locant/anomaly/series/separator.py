"""What stands between the cells of a text table, and whether its first line names the columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

from locant.anomaly.series.cells import MISSING, Marks
from locant.anomaly.series.stamps import PATTERNS

SEPARATORS = {"\t": "TSV", ";": "CSV with semicolons", ",": "CSV", "|": "text with bars"}
LOOSE = [Marks(".", ","), Marks(",", ".")]  # a number in one way of writing or another


def separator(lines: Sequence[str]) -> str:
    r"""The mark that cuts most of the first lines into as many cells as the first one has, more than one.

    >>> separator(["time;value", "2014-02-14;1,5", "2014-02-15;2,5"])
    ';'
    >>> separator(["value", "1,5", "2,5"])  # one column, with decimal commas
    '\t'
    """
    best, agreed = "", 0
    for mark in SEPARATORS:
        counts = _widths(lines, mark)
        agree = sum(count == counts[0] for count in counts) if counts and counts[0] > 1 else 0
        if agree > agreed:
            best, agreed = mark, agree
    if best:
        return best
    if all(map(is_number, lines[1:])):
        return "\t"
    usual = {mark: Counter(_widths(lines, mark) or [1]).most_common(1)[0] for mark in SEPARATORS}
    return max(usual, key=lambda mark: usual[mark] if usual[mark][0] > 1 else (0, 0))


def _widths(lines: Sequence[str], mark: str) -> list[int]:
    """How many cells each line has; none when this mark leaves a cell too long to be one."""
    try:
        return [len(row) for row in csv.reader(lines, delimiter=mark) if row]
    except csv.Error:
        return []


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: somewhere it holds a word above numbers or dates.

    >>> has_header([["time", "load"], ["2014-02-14", "1.5"]]), has_header([["2014-02-14", "1.5"], ["2014-02-15", "2"]])
    (True, False)
    """
    if len(rows) == 1:
        return any(map(is_word, rows[0]))
    columns = zip(*rows, strict=False)
    return any(
        is_word(first) and sum(not is_word(cell) for cell in rest) * 2 > len(rest)
        for first, *rest in columns
    )


def is_number(cell: str) -> bool:
    """Whether a cell is a number, in whatever way it is written."""
    return any(re.match(marks.pattern, cell.strip()) for marks in LOOSE)


def is_word(cell: str) -> bool:
    """Whether a cell is neither missing, nor a number, nor a time.

    >>> [is_word(cell) for cell in ("load", "1,5", "NA", "2014-02-14 14:30")]
    [True, False, False, False]
    """
    bare = cell.strip()
    is_time = any(re.match(pattern.regex, bare) for pattern in PATTERNS)
    return not (bare.lower() in MISSING or is_number(bare) or is_time)
