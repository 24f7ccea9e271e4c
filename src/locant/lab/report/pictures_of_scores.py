"""Pictures of what was measured: the score that decides, differences, kinds, lengths, changes, cost."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from locant.lab.report.picture import Picture, capital, listed
from locant.lab.report.ranked import ranked
from locant.lab.report.shown import Shown
from locant.lab.store.record import RowRecord

ROUNDING = 1e-5  # of float32 in a small model: a smaller change of answers is none


def metric(shown: Shown) -> Picture | None:
    if not shown.rows:
        return None
    rows = [*shown.rows, *shown.rest]
    scores = [values[np.isfinite(values)] for values in (row.scores(shown.metric) for row in rows)]
    ceilings = {f"ceiling {sight}": value for sight, value in shown.facts["ceilings"].items()}
    lines = {"chance": shown.facts["chance"], **ceilings}
    notes = [""] * len(shown.rows)
    notes += [f"{len(row.failures)} failed" if row.failures else "no score" for row in shown.rest]
    caption = (
        f"{capital(shown.metric)} on {shown.judged_on}, {shown.better} is better, best first: "
    )
    caption += f"{shown.bar(rows, dots=True)}, {'chance and ceilings as thin lines' if ceilings else 'chance as a thin line'}; "
    caption += (
        "rows with failed runs stand last, without a mean; " * bool(shown.rest)
        + f"{shown.counted(rows)}."
    )
    numbers = {
        "scores": scores,
        "better": shown.better,
        "lines": lines,
        "notes": notes,
        "on": shown.judged_on,
    }
    return _picture(shown, "metric", rows, caption, **numbers, each=shown.record.one)


def forest(shown: Shown) -> Picture | None:
    rows = {row.name: row for row in shown.rows}
    if (
        "none" not in rows or len(rows) < 2 or any(not row.failures for row in shown.rest)
    ):  # scores that are no numbers
        return None
    ranking = ranked(shown.record)
    assert ranking is not None
    groups = {row.name: row.group for row in ranking.rows}
    none = rows["none"].scores(shown.metric)
    gaps = [row.scores(shown.metric) - none for row in shown.rows]
    one = shown.record.one
    caption = f"{capital(shown.metric)} minus that of none, {one} by {one}: {shown.bar(shown.rows, dots=True)}; "
    caption += f"an encoding cannot be told from the first of its group; {shown.counted(shown.rows)}{shown.without}."
    numbers = {
        "gaps": gaps,
        "groups": [groups[name] for name in rows],
        "better": shown.better,
        "each": one,
    }
    return _picture(shown, "forest", shown.rows, caption, **numbers)


def kinds(shown: Shown) -> Picture | None:
    rows, recalls = _family(shown, "recall, ")
    if not rows:
        return None
    caption = f"Share of the faulty points of each kind that are found, in %: {shown.bar(rows)}, best row first, controls "
    caption += f"and plain methods in italics; {shown.counted(rows)}{shown.without}."
    return Picture("kinds", {"entrants": shown.entrants(rows), "recalls": recalls}, caption)


def lengths(shown: Shown) -> Picture | None:
    pattern = re.compile(rf"{re.escape(shown.metric)} at (\d+)")
    longer = {
        int(found[1]): name
        for name in shown.metrics(shown.metric)
        if (found := pattern.fullmatch(name))
    }
    names = [shown.metric, *(name for _, name in sorted(longer.items()))]
    rows = shown.having(*names)
    if not longer or not rows or "length" not in shown.facts:
        return None
    trained = int(shown.facts["length"])
    every = [trained, *sorted(longer)]
    scores = [np.array([row.scores(name) for name in names]) for row in rows]  # (lengths, seeds)
    caption = f"{capital(shown.metric)} in rows of {listed(every)} tokens, trained at {trained}: {shown.bar(rows)}, "
    caption += f"the other rows pale behind; {shown.counted(rows)}{shown.without}."
    return _picture(
        shown, "lengths", rows, caption, lengths=every, scores=scores, chance=shown.facts["chance"]
    )


def changes(shown: Shown) -> Picture | None:
    rows, ways = _family(shown, "change when ")
    if not rows:
        return None
    caption = f"Largest change of an answer when a window is {listed(ways, 'or')} and the answers are put back, in "
    caption += f"{shown.unit}, on a log scale: the geometric mean, every {shown.record.one} as a dot; below {ROUNDING:.0e} it is "
    caption += f"rounding; {shown.counted(rows)}{shown.without}."
    numbers = {"changes": ways, "rounding": ROUNDING, "unit": shown.unit}
    return Picture("changes", {"entrants": shown.entrants(rows), **numbers}, caption)


def cost(shown: Shown) -> Picture | None:
    return _against(shown, "seconds_a_step", 1000, "milliseconds a training step")


def parameters(shown: Shown) -> Picture | None:
    return _against(shown, "parameters", 1, "learned parameters")


def _against(shown: Shown, part: str, times: float, unit: str) -> Picture | None:
    rows = [row for row in shown.rows if row.costs.get(part)]
    if len(rows) < 2:
        return None
    costs, scores = (
        [times * row.cost[part] for row in rows],
        [row.scores(shown.metric) for row in rows],
    )
    caption = f"{capital(shown.metric)} ({shown.bar(rows)}) against {unit} (the median over {shown.record.unit}); "
    caption += f"{shown.counted(rows)}{shown.without}."
    return _picture(
        shown, "cost", rows, caption, costs=costs, scores=scores, better=shown.better, unit=unit
    )


def _picture(
    shown: Shown, plot: str, rows: list[RowRecord], caption: str, **numbers: Any
) -> Picture:
    return Picture(
        plot, {"entrants": shown.entrants(rows), "metric": shown.metric, **numbers}, caption
    )


def _family(shown: Shown, prefix: str) -> tuple[list[RowRecord], dict[str, list[np.ndarray]]]:
    """The metrics that begin alike, by the rest of their names, and the rows that have them all; no rows without metrics."""
    names = shown.metrics(prefix)
    rows = shown.having(*names) if names else []
    return rows, {name.removeprefix(prefix): [row.scores(name) for row in rows] for name in names}
