"""Pictures of scores: the one that decides, differences, kinds, lengths, changes, spread, cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from locant._internal.text import capitalize_first, join_words
from locant.lab.report.longer_rows import length_metrics, shown_entrants
from locant.lab.report.score_table import rank_entrants
from locant.lab.report.study_view import Picture, StudyView, ceiling_names
from locant.lab.store.record import EntrantRecord

ROUNDING = 1e-5  # of float32 in a small model: a smaller change of outputs is no change


def metric(view: StudyView) -> Picture | None:
    """Show the score that decides, for every entrant, with chance and ceilings."""
    if not view.complete:
        return None
    entrants = [*view.complete, *view.incomplete]
    scores = []
    notes = []
    for entrant in entrants:
        values = entrant.scores(view.metric)
        scores.append(values[np.isfinite(values)])
        if entrant in view.complete:
            notes.append("")
        else:
            failures = len(entrant.failures)
            notes.append(f"{failures} failed" if failures else "no score")
    lines = {"chance": view.facts.chance}
    for name, value in ceiling_names(view.record).items():
        lines[f"ceiling {name}"] = value
    thin = "chance and ceilings as thin lines" if len(lines) > 1 else "chance as a thin line"
    last = "entrants with failed runs come last, without a mean; " if view.incomplete else ""
    caption = (
        f"{capitalize_first(view.metric)} on {view.tested_on}, {view.better} is better, best "
        f"first: {view.interval_words(entrants, dots=True)}, {thin}; {last}"
        f"{view.count_words(entrants)}."
    )
    return _picture(
        view,
        "metric",
        entrants,
        caption,
        scores=scores,
        better=view.better,
        lines=lines,
        notes=notes,
        on=view.tested_on,
        each=view.record.one,
    )


def forest(view: StudyView) -> Picture | None:
    """Show the paired differences to none, and the groups of the ranking."""
    entrants = {entrant.name: entrant for entrant in view.complete}
    without_score = any(not entrant.failures for entrant in view.incomplete)
    if "none" not in entrants or len(entrants) < 2 or without_score:
        return None
    ranking = rank_entrants(view.record)
    assert ranking is not None
    groups = {entrant.name: entrant.group for entrant in ranking.entrants}
    none = entrants["none"].scores(view.metric)
    one = view.record.one
    caption = (
        f"{capitalize_first(view.metric)} minus that of none, {one} by {one}: "
        f"{view.interval_words(view.complete, dots=True)}; an encoding cannot be distinguished "
        f"from the best of its group; {_end(view, view.complete)}"
    )
    return _picture(
        view,
        "forest",
        view.complete,
        caption,
        gaps=[entrant.scores(view.metric) - none for entrant in view.complete],
        groups=[groups[name] for name in entrants],
        better=view.better,
        each=one,
    )


def kinds(view: StudyView) -> Picture | None:
    """Show the recall of every kind of fault."""
    entrants, recalls = _metric_family(view, "recall, ")
    if not entrants:
        return None
    caption = (
        "Share of the faulty points of each kind that are found, in %: "
        f"{view.interval_words(entrants)}, best entrant first, controls and baselines in italics; "
        f"{_end(view, entrants)}"
    )
    return Picture("kinds", {"entrants": view.entrants(entrants), "recalls": recalls}, caption)


def lengths(view: StudyView) -> Picture | None:
    """Show the score against the length of the sequences."""
    longer = length_metrics(view.record)
    names = [view.metric, *longer.values()]
    passed = [entrant.name for entrant in shown_entrants(view.record)]
    entrants = [one for one in view.having(*names) if one.name in passed]
    trained = view.facts.length
    if not longer or not entrants or trained is None:
        return None
    hidden = [one.name for one in view.having(*names) if one.name not in passed]
    gate = ""
    if hidden:
        gate = f"; without those that have not learned rows of {trained} ({', '.join(hidden)})"
    every = [trained, *longer]
    caption = (
        f"{capitalize_first(view.metric)} on sequences of {join_words(every)} tokens, trained at "
        f"{trained}: {view.interval_words(entrants)}, the other entrants pale behind; "
        f"{view.count_words(entrants)}{gate}{view.missing_words}."
    )
    scores = []
    for entrant in entrants:
        scores.append(np.array([entrant.scores(name) for name in names]))  # (lengths, seeds)
    chance = view.facts.chance
    return _picture(view, "lengths", entrants, caption, lengths=every, scores=scores, chance=chance)


def changes(view: StudyView) -> Picture | None:
    """Show how much outputs change when the tokens of a window are moved and put back."""
    entrants, ways = _metric_family(view, "change when ")
    if not entrants:
        return None
    caption = (
        f"Largest change of an output when a window is {join_words(ways, 'or')} and the outputs "
        f"are put back in order, in {view.unit}, on a log scale: the geometric mean, every "
        f"{view.record.one} as a dot; below {ROUNDING:.0e} it is rounding; {_end(view, entrants)}"
    )
    numbers = {"changes": ways, "rounding": ROUNDING, "unit": view.unit}
    return Picture("changes", {"entrants": view.entrants(entrants), **numbers}, caption)


def spread(view: StudyView) -> Picture | None:
    """Show how the scores of normal and of faulty points are distributed."""
    entrants = []
    for entrant in view.complete:
        if entrant.notes and all(note.get("histogram") for note in entrant.notes):
            entrants.append(entrant)
    if not entrants:
        return None
    histograms = [[note["histogram"] for note in entrant.notes] for entrant in entrants]
    caption = (
        "Distribution of the scores of normal and of faulty points, as shares of each in %, on a "
        f"log scale, all {view.record.unit} together: the less they overlap, the better; "
        f"{view.count_words(entrants)}{view.missing_words}."
    )
    numbers = {"histograms": histograms, "every": view.record.unit}
    return Picture("spread", {"entrants": view.entrants(entrants), **numbers}, caption)


def cost(view: StudyView) -> Picture | None:
    """Show the score against the time of a training step."""
    return _against_cost(view, "seconds_a_step", 1000, "milliseconds per training step")


def parameters(view: StudyView) -> Picture | None:
    """Show the score against the number of learned parameters."""
    return _against_cost(view, "parameters", 1, "learned parameters")


def _against_cost(view: StudyView, part: str, factor: float, unit: str) -> Picture | None:
    entrants = [entrant for entrant in view.complete if entrant.costs.get(part)]
    if len(entrants) < 2:
        return None
    caption = (
        f"{capitalize_first(view.metric)} ({view.interval_words(entrants)}) against {unit} (the "
        f"median over {view.record.unit}); {_end(view, entrants)}"
    )
    return _picture(
        view,
        "cost",
        entrants,
        caption,
        costs=[factor * entrant.cost[part] for entrant in entrants],
        scores=[entrant.scores(view.metric) for entrant in entrants],
        better=view.better,
        unit=unit,
    )


def _end(view: StudyView, entrants: list[EntrantRecord]) -> str:
    """End a caption: over how many seeds, and which entrants are missing."""
    return f"{view.count_words(entrants)}{view.missing_words}."


def _picture(
    view: StudyView, plot: str, entrants: list[EntrantRecord], caption: str, **numbers: Any
) -> Picture:
    shared = {"entrants": view.entrants(entrants), "metric": view.metric}
    return Picture(plot, {**shared, **numbers}, caption)


def _metric_family(
    view: StudyView, prefix: str
) -> tuple[list[EntrantRecord], dict[str, list[np.ndarray]]]:
    """Collect the metrics with a prefix, by the rest of their names, and who has them all."""
    names = view.metrics(prefix)
    entrants = view.having(*names) if names else []
    values = {}
    for name in names:
        values[name.removeprefix(prefix)] = [entrant.scores(name) for entrant in entrants]
    return entrants, values
