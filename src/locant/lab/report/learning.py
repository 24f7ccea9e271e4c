"""Which rows learnt the task, in how many runs and how soon; which did not in these steps, and which cannot. No torch."""

from __future__ import annotations

import numpy as np

from locant.lab.report.details import Table, best_first, short_number, with_half
from locant.lab.report.search import multiple
from locant.lab.statistics.learning import jeffreys, log_rank, restricted
from locant.lab.store.record import Extra, RowRecord, StudyRecord
from locant.lab.store.thresholds import first_reached, has_learned


def times(row: RowRecord, record: StudyRecord) -> list[float | None] | None:
    """The step at which each run of a row reached the threshold, None for not; None where validation cannot tell."""
    histories = [history for history in row.histories if history]
    if not histories or any(has_learned(history, record.facts) is None for history in histories):
        return None
    return [first_reached(history, record.facts) for history in histories]


def learnt(row: RowRecord, record: StudyRecord) -> tuple[int, int] | None:
    """How many runs of a row learnt the task, of how many."""
    found = times(row, record)
    return None if found is None else (sum(time is not None for time in found), len(found))


def learning(record: StudyRecord) -> Table | None:
    """For every row: runs that learnt it, the score of those, the restricted mean of the steps it took, and the log-rank p."""
    known = [
        (row, found) for row in best_first(record) if (found := times(row, record)) is not None
    ]
    if not known:
        return None
    horizon = float(record.study["training"]["steps"])
    metric, threshold = record.facts["metric"], record.facts["threshold"]
    first = known[0][1]
    cells = []
    for row, found in known:
        count = sum(time is not None for time in found)
        low, high = jeffreys(count, len(found))
        scores = row.scores(metric)[[time is not None for time in found]]
        steps = with_half(restricted(found, horizon), places=0) if count else "–"
        p = "" if found is first else short_number(log_rank(first, found))
        cells.append(
            [
                row.name,
                f"{count} of {len(found)}",
                f"{low:.2f} to {high:.2f}",
                with_half(scores),
                steps,
                p,
            ]
        )
    heads = [
        "",
        f"reached {threshold:g}",
        "95 % of the share",
        f"{metric} of those",
        f"mean steps to it, at most {horizon:,.0f}",
        f"log-rank p against {known[0][0].name}, not corrected",
    ]
    return heads, cells


def standing(record: StudyRecord) -> list[str]:
    """What a row at chance means: an exact ceiling, or only these steps."""
    steps = record.study["training"]["steps"]
    never = [
        row.name
        for row in record.rows
        if (found := learnt(row, record)) is not None and not found[0]
    ]
    bars = {
        name: record.barred[name]
        for name in never
        if record.barred.get(name, 1.0) < record.facts["threshold"]
    }
    sentences = []
    for ceiling in sorted(set(bars.values())):
        names = ", ".join(name for name in never if bars.get(name) == ceiling)
        sentences.append(
            f"Cannot be learnt, by an exact ceiling of {short_number(ceiling)}: {names}."
        )
    rest = [name for name in never if name not in bars]
    if rest:
        sentences.append(
            f"Not learnt in {steps:,} steps by any run, which is no proof that it cannot be: {', '.join(rest)}."
        )
    return sentences


def longer(record: StudyRecord) -> Table | None:
    """The rows that were not learnt, once more with more steps: one run at each of a few rates."""
    if not record.longer:
        return None
    heads = [
        "",
        "steps",
        "runs that learnt it",
        f"best {record.facts['metric']}",
        "learning rate ×, positional ×",
        "steps it took",
    ]
    names = dict.fromkeys(run.name for run in record.longer)
    return heads, [
        _longer_row(name, [run for run in record.longer if run.name == name], record)
        for name in names
    ]


def _longer_row(name: str, runs: list[Extra], record: StudyRecord) -> list[str]:
    done = [run for run in runs if run.score is not None]
    if not done:
        return [name, *[""] * 4, f"{len(runs)} failed"]
    best = max(done, key=lambda run: run.score or -np.inf)
    count = sum(bool(has_learned(run.history, record.facts)) for run in done)
    took = first_reached(best.history, record.facts)
    point = f"{multiple(best.point[0])}, {multiple(best.point[1])}"
    soon = "–" if took is None else f"{took:,.0f}"
    return [
        name,
        f"{best.steps:,}",
        f"{count} of {len(runs)}",
        short_number(best.score),
        point,
        soon,
    ]
