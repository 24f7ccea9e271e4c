"""What the searches of a study chose, how much of the spread that explains, and which failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import stats

from locant._internal.text import counted, number_text
from locant.lab.report.rendering import Table, mean_text
from locant.lab.store.record import EntrantRecord, Point, StudyRecord
from locant.lab.study import SharedSearch

LONGEST_IN_MINUTES = 5400  # seconds; what takes longer is given in hours


def searched_once(record: StudyRecord) -> bool:
    """Return whether one search chose for all reported seeds, as in records of earlier versions."""
    return isinstance(record.settings.search, SharedSearch)


def search_table(record: StudyRecord) -> Table | None:
    """Show for every entrant what its searches chose, and how fixed grid points did."""
    searched = {run.name for run in record.search}
    entrants = []
    for entrant in record.entrants:
        was_searched = entrant.name in searched or (entrant.costs and not searched)
        if entrant.chosen and was_searched:
            entrants.append(entrant)
    if not record.settings.search or not entrants:
        return None
    header = ["", "rate ×, positional ×: searches", "of the spread"]
    fixed = _fixed_points(record)
    failed = failed_searches(record)
    lines = []
    for entrant in entrants:
        line = [entrant.name, _choices(entrant.chosen), _share(entrant, record)]
        if fixed:
            line += _best_fixed_point(record, fixed.get(entrant.name, {}))
            line.append("search failed" if entrant.name in failed else "")
        lines.append(line)
    return [*header, "fixed", "its score", ""] if fixed else header, lines


def column_notes(record: StudyRecord) -> list[str]:
    """Explain the columns of `search_table`, one sentence each."""
    table = search_table(record)
    if table is None:
        return []
    notes = [
        "“rate ×, positional ×: searches”: the multiples of the two learning rates that searches "
        "chose, and how many searches chose them.",
        "“of the spread”: how much of the variance of an entrant's scores lies between runs whose "
        "searches chose differently (ω²).",
    ]
    if "fixed" in table[0]:
        notes += [
            "“fixed”: the one point of the grid that does best when it is used for every seed, "
            "on fresh seeds.",
            "“its score”: the mean score at that fixed point; where it is surely ahead of the "
            "entrant's own, the search failed.",
        ]
    return notes


def _choices(points: Sequence[Point]) -> str:
    """Write every choice with how many searches made it, the most frequent first.

    >>> _choices([(1.0, 10.0), (3.0, 1.0), (1.0, 10.0)])
    '1, 10: 2; 3, 1: 1'
    """
    counts = Counter(points).most_common()
    return "; ".join(f"{_point_text(point)}: {count}" for point, count in counts)


def _point_text(point: Point) -> str:
    rate, positional_rate = point
    return f"{number_text(rate, 'multiple')}, {number_text(positional_rate, 'multiple')}"


def _share(entrant: EntrantRecord, record: StudyRecord) -> str:
    values = entrant.scores(record.facts.metric)
    if len(values) != len(entrant.chosen):
        return ""
    share = share_of_choice(values, entrant.chosen)
    return "" if share is None else f"{share:.0%}"


def share_of_choice(values: np.ndarray, points: Sequence[Point]) -> float | None:
    """Compute how much of the variance lies between the chosen points (ω²); None when unknown.

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


def failed_searches(record: StudyRecord) -> list[str]:
    """Name the entrants that lose to a fixed grid point on fresh seeds.

    The lead must exceed the study's margin, by an interval corrected for all fixed points.
    """
    sign = record.facts.sign
    margin = record.settings.margin or 0.0
    fixed = _fixed_points(record)
    tests = sum(len(points) for points in fixed.values())
    failed = []
    for entrant in record.entrants:
        own = entrant.scores(record.facts.metric)
        if len(own) < 2:
            continue
        points = fixed.get(entrant.name, {})
        leads = [lead_of(sign * scores, sign * own, tests) for scores in points.values()]
        if any(lead > margin for lead in leads):
            failed.append(entrant.name)
    return failed


def lead_of(scores: np.ndarray, own: np.ndarray, tests: int, alpha: float = 0.05) -> float:
    """Compute by how much scores are ahead: the lower end of Welch's interval, corrected for tests.

    >>> lead_of(np.array([0.9, 0.91, 0.9]), np.array([0.5, 0.52, 0.51]), 3) > 0.3
    True
    """
    parts = [values.var(ddof=1) / len(values) for values in (scores, own)]
    error = float(np.sqrt(sum(parts)))
    gap = float(scores.mean() - own.mean())
    if error == 0:
        return gap
    squares = [
        part**2 / (len(values) - 1) for part, values in zip(parts, (scores, own), strict=True)
    ]
    freedom = sum(parts) ** 2 / sum(squares)
    return gap - float(stats.t.ppf(1 - alpha / 2 / tests, freedom)) * error


def _fixed_points(record: StudyRecord) -> dict[str, dict[Point, np.ndarray]]:
    """Collect every entrant's scores at its fixed grid points, without those with failed runs."""
    found: dict[str, dict[Point, list[float | None]]] = {}
    for run in record.checks:
        found.setdefault(run.name, {}).setdefault(run.point, []).append(run.score)
    complete: dict[str, dict[Point, np.ndarray]] = {}
    for name, points in found.items():
        complete[name] = {}
        for point, scores in points.items():
            if None not in scores and len(scores) > 1:
                complete[name][point] = np.array(scores, float)
    return complete


def _best_fixed_point(record: StudyRecord, points: dict[Point, np.ndarray]) -> list[str]:
    if not points:
        return ["", ""]
    sign = record.facts.sign
    best = max(points, key=lambda point: sign * float(points[point].mean()))
    return [_point_text(best), mean_text(points[best])]


def cost_notes(record: StudyRecord) -> list[str]:
    """Say what searches and checks took beside the reported runs, and what was not searched."""
    if not record.search:
        return []
    reported = []
    for entrant in record.entrants:
        reported += entrant.costs.get("seconds", [])
    parts = {
        "search": [run.cost for run in record.search],
        "checks": [run.cost for run in record.checks],
        "longer runs": [run.cost for run in record.longer],
    }
    spent = [f"the reported runs took {_duration(reported)} ({counted(len(reported), 'runs')})"]
    for name, costs in parts.items():
        if costs:
            seconds = [cost.get("seconds", 0.0) for cost in costs]
            spent.append(f"the {name} {_duration(seconds)} ({counted(len(costs), 'runs')})")
    sentences = [f"CPU time on one core: {', '.join(spent)}."]
    if record.barred:
        sentences.append(
            "Not searched, because an exact ceiling keeps them from learning the task at any "
            f"learning rate: {', '.join(record.barred)}."
        )
    return sentences


def _duration(seconds: Iterable[float]) -> str:
    """Write the sum of seconds in minutes or hours.

    >>> _duration([100, 100]), _duration([7300])
    ('3 minutes', '2.0 hours')
    """
    total = sum(seconds)
    if total < LONGEST_IN_MINUTES:
        return counted(round(total / 60), "minutes")
    return f"{total / 3600:.1f} hours"


def edge_notes(record: StudyRecord) -> list[str]:
    """Name the entrants most of whose searches chose the edge of the grid."""
    if not record.settings.search or not record.search:
        return []
    tried: dict[str, set[Point]] = {}
    for run in record.search:
        tried.setdefault(run.name, set()).add(run.point)
    names = []
    for entrant in record.entrants:
        if entrant.name in tried and _on_the_edge(entrant.chosen, tried[entrant.name]):
            names.append(entrant.name)
    if not names:
        return []
    return [
        "Most searches chose the edge of the grid, so a better point may lie beyond it: "
        f"{', '.join(names)}."
    ]


def _on_the_edge(points: Sequence[Point], tried: set[Point]) -> bool:
    """Return whether most choices lie at the highest or lowest rate tried, other than 1."""
    ends = [{min(axis), max(axis)} - {1.0} for axis in zip(*tried, strict=True)]
    at_an_end = [point for point in points if point[0] in ends[0] or point[1] in ends[1]]
    return 2 * len(at_an_end) > len(points)
