"""The further measurements of a study: a second table, and what was published beside it."""

from __future__ import annotations

import numpy as np

from locant.lab.statistics.paired import interval
from locant.lab.store.record import RowRecord, StudyRecord

Table = tuple[list[str], list[list[str]]]  # heads and rows, all text


def details(record: StudyRecord) -> Table | None:
    """One column for each metric that the study asks for beside the deciding one: mean ± half a 95 % interval."""
    wanted = [
        name
        for name in record.study.get("details", [])
        if any(row.metrics.get(name) for row in record.rows)
    ]
    if not wanted:
        return None
    rows = [
        [row.name, *[with_half(row.scores(name)) for name in wanted]] for row in best_first(record)
    ]
    return ["", *wanted], rows


def published(record: StudyRecord) -> Table | None:
    """What was published beside what was measured."""
    said = record.study.get("published") or {}
    if not said:
        return None
    known = [record.facts["metric"], *record.study.get("details", [])]
    metrics = [name for name in known if any(name in values for values in said.values())]
    heads = ["", *[f"{name}, {who}" for name in metrics for who in ("published", "here")]]
    rows = []
    for row in record.rows:
        if row.name in said:
            cells = [
                [short_number(said[row.name].get(name)), with_half(row.scores(name))]
                for name in metrics
            ]
            rows.append([row.name, *[cell for pair in cells for cell in pair]])
    return heads, rows


def best_first(record: StudyRecord) -> list[RowRecord]:
    """Rows in the order of the first table."""
    metric, sign = record.facts["metric"], 1 if record.facts["higher_is_better"] else -1
    done = [row for row in record.rows if len(row.scores(metric))]
    return sorted(done, key=lambda row: -sign * float(row.scores(metric).mean()))


def with_half(values: np.ndarray, places: int | None = None) -> str:
    """mean ± half an interval, with the digits that fit the size, or so many decimals.

    >>> with_half(np.array([0.5, 0.6, 0.7])), with_half(np.array([1e-6, 1e-6])), with_half(np.array([]))
    ('.600 ± .248', '1e-06', '')
    >>> with_half(np.array([75.0, 100.0]), places=0)
    '88 ± 159'
    """
    if not len(values):
        return ""
    low, high = interval(values)
    half = (high - low) / 2
    if not np.isfinite(half) or half < 1e-9:
        return short_number(float(values.mean()), places)
    return f"{short_number(float(values.mean()), places)} ± {short_number(half, places)}"


def short_number(value: float | None, places: int | None = None) -> str:
    """Three decimals, without the leading zero of a share."""
    if value is None:
        return ""
    if places is not None:
        return f"{value:.{places}f}"
    if value and abs(value) < 0.0005:
        return f"{value:.0e}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
