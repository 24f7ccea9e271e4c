"""Whether 1,5 is one and a half: the whole file decides, or it is refused.

1,234 alone may be a thousand or one and a bit. A 0,5 or a 1.234,5 anywhere in the file settles it.
"""

from __future__ import annotations

import polars as pl

from locant.anomaly.series.cells import PLAIN, Marks, missing
from locant.anomaly.series.raw import Raw

COMMA, COMMA_GROUPED, DOT_GROUPED = Marks(","), Marks(",", "."), Marks(".", ",")


def decide(raw: Raw) -> Marks:
    """How the numbers of a file are written.

    >>> cells = [pl.Series(["1,234", "0,5"])]
    >>> decide(Raw("a.csv", "CSV", ["value"], cells, np.arange(2)))
    Marks(decimal=',', group='')
    """
    if not any(
        cells.dtype == pl.String and cells.str.contains(",", literal=True).any()
        for cells in raw.columns
    ):
        return PLAIN
    written = {name: _numbers(cells) for name, cells in zip(raw.names, raw.columns, strict=True)}
    with_comma = {
        name: cells.filter(cells.str.contains(",", literal=True)) for name, cells in written.items()
    }
    name, cell = next(
        ((name, str(cells[0])) for name, cells in with_comma.items() if len(cells)), ("", "")
    )
    if not cell:
        return PLAIN
    every = pl.concat(list(written.values()))
    fitting = [
        marks
        for marks in (COMMA, COMMA_GROUPED, DOT_GROUPED)
        if every.str.contains(marks.pattern).all()
    ]
    if not fitting:
        raise ValueError(
            f"{raw.path} writes numbers in two ways: {_not(every, DOT_GROUPED)!r} and {_not(every, COMMA_GROUPED)!r}.\n"
            "  Write all of them with a decimal point, or all with a decimal comma."
        )
    if fitting[0].decimal == "," and DOT_GROUPED in fitting:
        raise ValueError(
            f"{raw.path}, column {name}: {cell!r} may be {cell.replace(',', '.')} or {cell.replace(',', '')}, and nothing "
            "in the file settles it.\n  Write the numbers with a decimal point and nothing between the thousands."
        )
    how = "a decimal comma" if fitting[0].decimal == "," else "a comma between the thousands"
    raw.said.append(
        f"Numbers are written with {how}, as in {cell!r} of column {name}, and were read so."
    )
    return fitting[0]


def _numbers(cells: pl.Series) -> pl.Series:
    """The different numbers of a column that is mostly numbers, in whatever way they are written; else none."""
    if cells.dtype != pl.String:
        return pl.Series([], dtype=pl.String)
    bare = cells.drop_nulls().str.strip_chars()
    found = bare.filter(
        bare.str.contains("|".join(marks.pattern for marks in (COMMA_GROUPED, DOT_GROUPED)))
    )
    mostly = 2 * len(found) >= len(cells) - int(missing(cells).sum())
    return found.unique(maintain_order=True).rename("") if mostly else found.clear().rename("")


def _not(cells: pl.Series, marks: Marks) -> str:
    """The first number that cannot be written so."""
    return str(cells.filter(~cells.str.contains(marks.pattern))[0])
