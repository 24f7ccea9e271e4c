"""What all pages share: the order of entrants, means with intervals, Markdown tables, templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from locant._internal.text import Style, plus_minus
from locant.lab.statistics.paired import interval
from locant.lab.store.record import EntrantRecord, StudyRecord

if TYPE_CHECKING:
    from jinja2 import Environment

Table = tuple[list[str], list[list[str]]]  # header and lines, all text
SMALLEST_HALF = 1e-9  # half an interval below this is rounding, and is not printed


def best_first(record: StudyRecord) -> list[EntrantRecord]:
    """Sort the entrants that have scores as in the first table, the best first."""
    metric, sign = record.facts.metric, record.facts.sign
    finished = [entrant for entrant in record.entrants if len(entrant.scores(metric))]
    return sorted(finished, key=lambda entrant: -sign * float(entrant.scores(metric).mean()))


def mean_text(values: np.ndarray, style: Style = "share", decimals: int = 3) -> str:
    """Write the mean of values and half its 95 % interval.

    >>> mean_text(np.array([0.5, 0.6, 0.7])), mean_text(np.array([1e-6, 1e-6]))
    ('.600 ± .248', '1e-06')
    >>> mean_text(np.array([75.0, 100.0]), "fixed", 0), mean_text(np.array([]))
    ('88 ± 159', '')
    """
    if not len(values):
        return ""
    low, high = interval(values)
    half = (high - low) / 2
    return plus_minus(float(values.mean()), None if half < SMALLEST_HALF else half, style, decimals)


def markdown_table(header: list[str], lines: list[list[str]]) -> list[str]:
    """Write a table as lines of Markdown."""
    rule = "|" + "---|" * len(header)
    cells = ["| " + " | ".join(line) + " |" for line in [header, *lines]]
    return [cells[0], rule, *cells[1:]]


def environment() -> Environment:
    """Make the Jinja environment that every HTML page is rendered with."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("locant.lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
