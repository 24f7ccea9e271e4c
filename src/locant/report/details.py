"""The further measurements of a study: a second table, what was published beside it, and how soon rows learnt."""

from __future__ import annotations

import numpy as np

from locant.results.record import RowRecord, StudyRecord
from locant.statistics.paired import interval

Table = tuple[list[str], list[list[str]]]  # heads and rows, all text


def details(record: StudyRecord) -> Table | None:
    """One column for each metric that the study asks for beside the deciding one: mean ± half a 95 % interval."""
    wanted = [name for name in record.study.get("details", []) if any(row.metrics.get(name) for row in record.rows)]
    if not wanted:
        return None
    rows = [[row.name, *[with_half(row.scores(name)) for name in wanted]] for row in best_first(record)]
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
            cells = [[_short(said[row.name].get(name)), with_half(row.scores(name))] for name in metrics]
            rows.append([row.name, *[cell for pair in cells for cell in pair]])
    return heads, rows


def learning(record: StudyRecord) -> Table | None:
    """How many seeds reached the threshold in validation, and after how many steps (the median of those that did)."""
    facts = record.facts
    if not facts.get("chooses_higher") or facts.get("chooses") != facts["metric"]:
        return None
    rows = []
    for row in best_first(record):
        histories = [history for history in row.histories if history]
        if histories:
            steps = [first for history in histories if (first := reached(history, facts)) is not None]
            middle = f"{np.median(steps):.0f}" if steps else "–"
            rows.append([row.name, f"{len(steps)} of {len(histories)}", middle])
    return ["", f"seeds that reached {facts['threshold']:g}", "steps it took (median)"], rows


def reached(history: list[dict[str, float]], facts: dict[str, object]) -> float | None:
    """The first step at which validation was at least the threshold.

    >>> reached([{"step": 25, "accuracy": 0.5}, {"step": 50, "accuracy": 0.95}], {"chooses": "accuracy", "threshold": 0.9})
    50
    """
    metric, threshold = str(facts["chooses"]), float(str(facts["threshold"]))
    return next((entry["step"] for entry in history if entry.get(metric, -np.inf) >= threshold), None)


def best_first(record: StudyRecord) -> list[RowRecord]:
    """Rows in the order of the first table."""
    metric, sign = record.facts["metric"], 1 if record.facts["higher_is_better"] else -1
    done = [row for row in record.rows if len(row.scores(metric))]
    return sorted(done, key=lambda row: -sign * float(row.scores(metric).mean()))


def with_half(values: np.ndarray) -> str:
    """mean ± half an interval, with the digits that fit the size.

    >>> with_half(np.array([0.5, 0.6, 0.7])), with_half(np.array([1e-6, 1e-6])), with_half(np.array([]))
    ('.600 ± .248', '1e-06', '')
    """
    if not len(values):
        return ""
    low, high = interval(values)
    half = (high - low) / 2
    if not np.isfinite(half) or half < 1e-9:
        return _short(float(values.mean()))
    return f"{_short(float(values.mean()))} ± {_short(half)}"


def _short(value: float | None) -> str:
    if value is None:
        return ""
    if value and abs(value) < 0.0005:
        return f"{value:.0e}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
