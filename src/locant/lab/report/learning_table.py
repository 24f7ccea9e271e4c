"""Which entrants learned the task, in how many runs and how soon; and whether that survives.

An entrant at chance has not learned the task in these steps. Only an exact ceiling shows that it
cannot be learned.
"""

from __future__ import annotations

import numpy as np

from locant._internal.text import counted, number_text
from locant.lab.report.rendering import Table, best_first, mean_text
from locant.lab.statistics.paired import interval
from locant.lab.statistics.survival import censor, jeffreys, log_rank
from locant.lab.statistics.verdict import MIN_SEEDS
from locant.lab.store.record import EntrantRecord, ExtraRun, StudyRecord
from locant.lab.store.thresholds import first_reached, has_learned


def learning_steps(entrant: EntrantRecord, record: StudyRecord) -> list[float | None] | None:
    """Find the step at which each run reached the threshold, None for runs that never did.

    Returns None for all where validation does not measure the score that decides.
    """
    histories = [history for history in entrant.histories if history]
    if not histories or any(has_learned(history, record.facts) is None for history in histories):
        return None
    return [first_reached(history, record.facts) for history in histories]


def count_learned(entrant: EntrantRecord, record: StudyRecord) -> tuple[int, int] | None:
    """Count the runs of an entrant that learned the task, and all its runs."""
    steps = learning_steps(entrant, record)
    if steps is None:
        return None
    return sum(step is not None for step in steps), len(steps)


def measures_learning(record: StudyRecord) -> bool:
    """Return whether validation shows for any entrant when it learned the task."""
    return any(count_learned(entrant, record) is not None for entrant in record.entrants)


def learning_table(record: StudyRecord) -> Table | None:
    """Show for every entrant how many runs learned the task, their score, and how soon."""
    known = []
    for entrant in best_first(record):
        steps = learning_steps(entrant, record)
        if steps is not None:
            known.append((entrant, steps))
    if not known:
        return None
    horizon = float(record.settings.training.steps)
    metric = record.facts.metric
    best, best_steps = known[0]
    lines = []
    for entrant, steps in known:
        learned = [step is not None for step in steps]
        low, high = jeffreys(sum(learned), len(steps))
        mean_steps = mean_text(censor(steps, horizon), "fixed", 0) if any(learned) else "–"
        p = "" if entrant is best else number_text(log_rank(best_steps, steps), "share")
        line = [entrant.name, f"{sum(learned)} of {len(steps)}", f"{low:.2f} to {high:.2f}"]
        lines.append([*line, mean_text(entrant.scores(metric)[learned]), mean_steps, p])
    header = [
        "",
        f"reached {record.facts.threshold:g}",
        "95 % of the share",
        f"{metric} of those",
        f"mean steps to reach it, at most {horizon:,.0f}",
        f"log-rank p against {best.name}, not corrected",
    ]
    return header, lines


def unlearned_notes(record: StudyRecord) -> list[str]:
    """Say of every entrant at chance whether an exact ceiling explains it, or only its steps."""
    never = []
    for entrant in record.entrants:
        counts = count_learned(entrant, record)
        if counts is not None and not counts[0]:
            never.append(entrant.name)
    ceilings = {}
    for name in never:
        if record.barred.get(name, 1.0) < record.facts.threshold:
            ceilings[name] = record.barred[name]
    sentences = []
    for ceiling in sorted(set(ceilings.values())):
        names = ", ".join(name for name in never if ceilings.get(name) == ceiling)
        value = number_text(ceiling, "share")
        sentences.append(f"Cannot be learned, by an exact ceiling of {value}: {names}.")
    rest = ", ".join(name for name in never if name not in ceilings)
    if rest:
        steps = f"{record.settings.training.steps:,} steps"
        sentences.append(
            f"Not learned in {steps} by any run, which does not prove that it cannot be: {rest}."
        )
    return sentences


def longer_table(record: StudyRecord) -> Table | None:
    """Show the entrants that did not learn the task once more, with more steps."""
    if not record.longer:
        return None
    header = [
        "",
        "steps",
        "runs that learned it",
        f"best {record.facts.metric}",
        "learning rate ×, positional ×",
        "steps it took",
    ]
    names = dict.fromkeys(run.name for run in record.longer)
    return header, [_longer_line(name, record) for name in names]


def _longer_line(name: str, record: StudyRecord) -> list[str]:
    runs = [run for run in record.longer if run.name == name]
    finished = [run for run in runs if run.score is not None]
    if not finished:
        return [name, *[""] * 4, f"{len(runs)} failed"]
    best: ExtraRun = max(finished, key=lambda run: run.score or -np.inf)
    learned = sum(bool(has_learned(run.history, record.facts)) for run in finished)
    took = first_reached(best.history, record.facts)
    rate, positional_rate = best.point
    return [
        name,
        f"{best.steps:,}",
        f"{learned} of {len(runs)}",
        number_text(best.score, "share"),
        f"{number_text(rate, 'multiple')}, {number_text(positional_rate, 'multiple')}",
        "–" if took is None else f"{took:,.0f}",
    ]


def replication_title(record: StudyRecord) -> str:
    """Name what a study that repeats another one has changed."""
    if record.base is None or record.base.settings.model != record.settings.model:
        return "Does it survive another model?"
    return "Does it survive another search?"


def replication_table(record: StudyRecord) -> Table | None:
    """Put a study beside the one that it repeats: does every standing survive?"""
    if record.base is None:
        return None
    before = {entrant.name: entrant for entrant in record.base.entrants if not entrant.failures}
    metric = record.facts.metric
    lines = []
    for entrant in record.entrants:
        if entrant.failures or entrant.name not in before or not entrant.costs:
            continue
        other = before[entrant.name]
        old, new = has_succeeded(other, record.base), has_succeeded(entrant, record)
        word = ""
        if old is not None and new is not None:
            word = "survives" if old == new else "changes"
        both = [one.scores(metric) for one in (other, entrant)]
        lines.append([entrant.name, *map(mean_text, both), _overlap(*both), word])
    base = f"{metric}, {record.base.settings.name}"
    return ["", base, f"{metric}, here", "95 % intervals", "its standing"], lines


def _overlap(first: np.ndarray, second: np.ndarray) -> str:
    """Say whether the t intervals of two means overlap.

    >>> _overlap(np.array([0.9, 1.0]), np.array([0.8, 0.9]))
    'overlap'
    >>> _overlap(np.array([1.0, 1.0]), np.array([0.5, 0.5]))
    'apart'
    """
    (low, high), (other_low, other_high) = interval(first), interval(second)
    return "overlap" if low <= other_high and other_low <= high else "apart"


def replication_notes(record: StudyRecord) -> list[str]:
    """Say what a comparison with another model or another search is worth."""
    if record.base is None:
        return []
    seeds = max((len(entrant.seeds) for entrant in record.entrants), default=0)
    searched = ""
    if not record.settings.search:
        searched = ", at one learning rate for all entrants, without a search"
    hint = f"; fewer than {MIN_SEEDS} are a hint at most" if seeds < MIN_SEEDS else ""
    return [
        f"{counted(seeds, record.unit)} here{searched}{hint}. Standing: most runs learned the "
        "task, or not; where validation does not show that, ahead of none, or not."
    ]


def has_succeeded(entrant: EntrantRecord, record: StudyRecord) -> bool | None:
    """Return whether most runs learned the task, or else whether the mean is ahead of none."""
    counts = count_learned(entrant, record)
    if counts is not None:
        return 2 * counts[0] > counts[1]
    none = record.complete.get("none")
    if none is None or entrant.name == "none":
        return None
    lead = float(entrant.scores(record.facts.metric).mean() - none.mean())
    return lead * record.facts.sign > 0
