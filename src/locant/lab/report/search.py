"""What the searches of a study chose, how much of a row's spread that makes, and where a search failed. No torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import stats

from locant.lab.report.details import Table, with_half
from locant.lab.store.record import Point, RowRecord, StudyRecord


def searched_once(record: StudyRecord) -> bool:
    """Whether one search chose for all reported seeds, as in records of earlier versions."""
    search = record.study.get("search")
    return isinstance(search, dict) and "judged_by" not in search


def chosen(record: StudyRecord) -> Table | None:
    """For every row: what its searches chose, what share of its spread that makes, and how fixed points did."""
    searched = {run.name for run in record.search}
    rows = [
        row
        for row in record.rows
        if row.chosen and (row.name in searched or (row.costs and not searched))
    ]
    if not record.study["search"] or not rows:
        return None
    heads = ["", "rate ×, positional ×: searches", "of the spread"]
    fixed = _fixed(record)
    if not fixed:
        return heads, [[row.name, _choices(row.chosen), _share(row, record)] for row in rows]
    failed = distrusted(record)
    cells = []
    for row in rows:
        best = _best_fixed(record, fixed.get(row.name, {}))
        mark = "search failed" if row.name in failed else ""
        cells.append(
            [row.name, _choices(row.chosen), _share(row, record), *(best or ("", "")), mark]
        )
    return [*heads, "fixed", "its score", ""], cells


def _choices(points: Sequence[Point]) -> str:
    """Every choice with how many searches made it, the most frequent first.

    >>> _choices([(1.0, 10.0), (3.0, 1.0), (1.0, 10.0)])
    '1, 10: 2; 3, 1: 1'
    """
    counts = Counter(points).most_common()
    return "; ".join(f"{multiple(rate)}, {multiple(own)}: {count}" for (rate, own), count in counts)


def _share(row: RowRecord, record: StudyRecord) -> str:
    values = row.scores(record.facts["metric"])
    if len(values) != len(row.chosen):
        return ""
    share = share_of_choice(values, row.chosen)
    return "" if share is None else f"{share:.0%}"


def share_of_choice(values: np.ndarray, points: Sequence[Point]) -> float | None:
    """How much of the variance of scores lies between the points that were chosen (ω²); None where it cannot be told.

    >>> share_of_choice(np.array([1.0, 1.0, 0.5, 0.5]), [(1, 1), (1, 1), (3, 1), (3, 1)])
    1.0
    """
    groups = [values[[point == one for point in points]] for one in dict.fromkeys(points)]
    total = float(((values - values.mean()) ** 2).sum())
    if len(groups) == 1 or total == 0:
        return 0.0
    if len(groups) == len(values):
        return None
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    mean_within = within / (len(values) - len(groups))
    return max(0.0, (total - within - (len(groups) - 1) * mean_within) / (total + mean_within))


def distrusted(record: StudyRecord) -> list[str]:
    """The rows that lose to a fixed point of the grid on fresh seeds, beyond the margin and an interval for all of them."""
    sign = 1 if record.facts["higher_is_better"] else -1
    margin = record.study.get("margin") or 0.0
    fixed = _fixed(record)
    tests = sum(map(len, fixed.values()))
    found = []
    for row in record.rows:
        own = row.scores(record.facts["metric"])
        points = fixed.get(row.name, {})
        leads = [
            lead_of(sign * scores, sign * own, tests) for scores in points.values() if len(own) > 1
        ]
        if any(lead > margin for lead in leads):
            found.append(row.name)
    return found


def lead_of(scores: np.ndarray, own: np.ndarray, tests: int, alpha: float = 0.05) -> float:
    """By how much scores are surely ahead: the lower end of Welch's interval, corrected for so many tests.

    >>> lead_of(np.array([0.9, 0.91, 0.9]), np.array([0.5, 0.52, 0.51]), 3) > 0.3
    True
    """
    parts = [values.var(ddof=1) / len(values) for values in (scores, own)]
    error = float(np.sqrt(sum(parts)))
    gap = float(scores.mean() - own.mean())
    if error == 0:
        return gap
    freedom = sum(parts) ** 2 / sum(
        p**2 / (len(v) - 1) for p, v in zip(parts, (scores, own), strict=True)
    )
    return gap - float(stats.t.ppf(1 - alpha / 2 / tests, freedom)) * error


def _fixed(record: StudyRecord) -> dict[str, dict[Point, np.ndarray]]:
    """The scores of every row at its fixed points; a point at which a run failed is no point to recommend."""
    found: dict[str, dict[Point, list[float | None]]] = {}
    for run in record.checks:
        found.setdefault(run.name, {}).setdefault(run.point, []).append(run.score)
    whole = {
        name: {p: s for p, s in some.items() if None not in s and len(s) > 1}
        for name, some in found.items()
    }
    return {
        name: {point: np.array(scores, float) for point, scores in some.items()}
        for name, some in whole.items()
    }


def _best_fixed(record: StudyRecord, points: dict[Point, np.ndarray]) -> tuple[str, str] | None:
    sign = 1 if record.facts["higher_is_better"] else -1
    if not points:
        return None
    point = max(points, key=lambda one: sign * float(points[one].mean()))
    return f"{multiple(point[0])}, {multiple(point[1])}", with_half(points[point])


def costs(record: StudyRecord) -> list[str]:
    """What searching and checking took, beside the reported runs; and who was not searched."""
    if not record.search:
        return []
    reported = [seconds for row in record.rows for seconds in row.costs.get("seconds", [])]
    parts = {
        "search": [run.cost for run in record.search],
        "checks": [run.cost for run in record.checks],
        "longer runs": [run.cost for run in record.longer],
    }
    spent = [f"the reported runs took {_minutes(sum(reported))} ({len(reported)} runs)"]
    for name, some in parts.items():
        if some:
            spent.append(
                f"the {name} {_minutes(sum(cost.get('seconds', 0.0) for cost in some))} ({len(some):,} runs)"
            )
    idle = ", ".join(record.barred)
    barred = (
        [f"Not searched, because an exact ceiling keeps them from learning it at any rate: {idle}."]
        if idle
        else []
    )
    return [f"Work of one core: {', '.join(spent)}.", *barred]


def _minutes(seconds: float) -> str:
    """
    >>> _minutes(200), _minutes(7300)
    ('3 minutes', '2.0 hours')
    """
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def edges(record: StudyRecord) -> list[str]:
    """The rows most of whose searches chose the edge of what was tried."""
    search = record.study["search"]
    if not search or not record.search:
        return []
    tried: dict[str, set[Point]] = {}
    for run in record.search:
        tried.setdefault(run.name, set()).add(run.point)
    names = [
        row.name
        for row in record.rows
        if row.name in tried and _on_the_edge(row.chosen, tried[row.name])
    ]
    if not names:
        return []
    return [
        f"Most searches chose the edge of what was tried, so that more may be possible: {', '.join(names)}."
    ]


def _on_the_edge(points: Sequence[Point], tried: set[Point]) -> bool:
    """Whether more than half of the choices lie at the highest or lowest of one of the rates, the study's own apart."""
    ends = [{min(axis), max(axis)} - {1.0} for axis in zip(*tried, strict=True)]
    return 2 * sum(point[0] in ends[0] or point[1] in ends[1] for point in points) > len(points)


def multiple(value: float) -> str:
    """Three figures, and no exponent where there need be none.

    >>> multiple(1 / 3), multiple(1000.0)
    ('0.333', '1,000')
    """
    return f"{float(f'{value:.3g}'):,g}"
