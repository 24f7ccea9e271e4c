"""The table that a benchmark prints: a title, columns, and rows of ratios, megabytes and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from locant.bench.ratio import Ratio


@dataclass(frozen=True)
class Cost:
    """A ratio of times, and the megabytes that the work adds at its peak."""

    ratio: Ratio
    megabytes: float | None

    def __str__(self) -> str:
        return f"{self.ratio}, {megabytes(self.megabytes)}"

    def plain(self) -> dict[str, Any]:
        return self.ratio.plain() | {
            "megabytes": None if self.megabytes is None else round(self.megabytes, 1)
        }


@dataclass(frozen=True)
class Amount:
    """A number with its unit; None where it could not be measured."""

    value: float | None
    unit: str
    decimals: int = 0

    def __str__(self) -> str:
        """Format the number with its unit.

        >>> str(Amount(1281.6, "MB")), str(Amount(None, "MB")), str(Amount(0.845, "GFLOP", 2))
        ('1,282 MB', '–', '0.84 GFLOP')
        """
        return "–" if self.value is None else f"{self.value:,.{self.decimals}f} {self.unit}"

    def plain(self) -> dict[str, Any]:
        return {"value": None if self.value is None else round(self.value, 4), "unit": self.unit}


Cell = Ratio | Cost | Amount | str


@dataclass(frozen=True)
class Table:
    """A benchmark's results: rows of (what was measured, cells), one cell for each column.

    series  for a picture, by line: length, seconds, megabytes
    """

    name: str
    title: str
    columns: list[str]
    rows: list[tuple[str, list[Cell]]]
    note: str = ""
    series: dict[str, list[tuple[int, float, float | None]]] = field(default_factory=dict)

    def as_text(self) -> list[list[str]]:
        """Return all cells as text, the name of the row first."""
        return [[what, *map(str, cells)] for what, cells in self.rows]

    def plain(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        rows = []
        for what, cells in self.rows:
            row: dict[str, Any] = {"what": what}
            for column, cell in zip(self.columns, cells, strict=True):
                row[column] = cell if isinstance(cell, str) else cell.plain()
            rows.append(row)
        return {
            "table": self.name,
            "title": self.title,
            "rows": rows,
            "note": self.note,
            "series": self.series,
        }


def megabytes(value: float | None) -> Amount:
    """Return an amount of memory, never below 0.

    >>> str(megabytes(281.6)), str(megabytes(-0.2))
    ('282 MB', '0 MB')
    """
    return Amount(None if value is None else max(0.0, value), "MB")
