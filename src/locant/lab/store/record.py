"""Read a finished study back from the store: scores seed by seed, costs, failures. No torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from locant._internal.checks import did_you_mean
from locant.lab.store.display_names import with_display_names
from locant.lab.store.store import Store, StudyEntry
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import Study, read_stored_study
from locant.lab.training.run_result import History

Point = tuple[float, float]  # times the learning rate, times the positional learning rate
ONE = {"seeds": "seed", "series": "series"}  # the singular of a unit


@dataclass
class EntrantRecord:
    """What the runs of one entrant gave: an encoding with its options, a control or a baseline.

    chosen  for each reported seed, the point that its search chose
    seeds   of the runs that ended well; metrics, histories, costs and notes are in their order
    codes   of the code that computed the runs in `digests`
    """

    name: str
    encoding: str
    chosen: list[Point]
    metrics: dict[str, list[float]] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)
    histories: list[History] = field(default_factory=list)
    costs: dict[str, list[float]] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def common(self) -> Point:
        """The point that most searches of the entrant chose; of equals the first."""
        return max(self.chosen, key=self.chosen.count, default=(1.0, 1.0))

    @property
    def cost(self) -> dict[str, float]:
        """The median over runs, which one slow moment of a machine does not move."""
        return {part: float(np.median(values)) for part, values in self.costs.items()}

    def scores(self, metric: str) -> np.ndarray:
        """Return the metric of every run that ended well, in the order of `seeds`."""
        return np.array(self.metrics.get(metric, []), float)


@dataclass(frozen=True)
class SearchRun:
    """One run of a search and its value: the lower, the better; None when it failed."""

    name: str
    search: int
    point: Point
    value: float | None
    cost: dict[str, float]


@dataclass(frozen=True)
class ExtraRun:
    """A run that is not reported with its entrant: its score, None when it failed."""

    name: str
    point: Point
    score: float | None
    history: History
    cost: dict[str, float]
    steps: int


@dataclass
class StudyRecord:
    """A study and all that answers it.

    settings  what was asked for; facts: how its task is scored
    finished  seconds since 1970
    search    what was tried, by seeds that are not reported
    checks    fixed points of the grid on fresh seeds
    longer    entrants that had not learned the task, with more steps
    barred    entrants that cannot pass an exact ceiling, each with it
    base      the study that this one repeats, where the store holds it
    """

    id: str
    settings: Study
    facts: TaskFacts
    command: str
    entrants: list[EntrantRecord]
    finished: float = 0.0
    search: list[SearchRun] = field(default_factory=list)
    checks: list[ExtraRun] = field(default_factory=list)
    longer: list[ExtraRun] = field(default_factory=list)
    barred: dict[str, float] = field(default_factory=dict)
    base: StudyRecord | None = None

    @property
    def unit(self) -> str:
        """What a run's seed numbers, in the plural: seeds, or series."""
        return self.settings.unit

    @property
    def one(self) -> str:
        """What a run's seed numbers, in the singular."""
        return ONE[self.unit]

    def called(self, seed: int) -> str:
        """Return the name of what a seed numbers; the number where it has no name."""
        names = self.facts.names
        return names[seed] if seed < len(names) else str(seed)

    @property
    def controls(self) -> list[str]:
        """The entrants that only show what is not positional."""
        own = [entrant.name for entrant in self.settings.encodings if entrant.control]
        return list(dict.fromkeys([*self.settings.controls, *own]))

    @property
    def complete(self) -> dict[str, np.ndarray]:
        """The deciding scores of the entrants in which no run failed."""
        metric = self.facts.metric
        return {one.name: one.scores(metric) for one in self.entrants if not one.failures}


def read_record(store: Store, requested: str | None = None) -> StudyRecord:
    """Read a study by its id, or the newest of a name; the newest of all by default."""
    kept = store.studies()
    if not kept:
        raise ValueError(
            f"the store {store.path} holds no study yet. Run one: locant compare order --quick"
        )
    entry = _choose(kept, requested)
    if entry is None:
        known = [entry.id for entry in kept]
        raise ValueError(
            f"no study {requested!r} is kept in "
            f"{store.path}.{did_you_mean(str(requested), known)}\n"
            f"  Kept: {', '.join(known)}"
        )
    choices, settings = entry.choices, read_stored_study(entry.study)
    facts = TaskFacts.from_stored(choices["facts"])
    record = StudyRecord(
        entry.id,
        settings,
        facts,
        entry.command,
        _entrants(store, entry, ONE[settings.unit]),
        entry.finished,
        search=[_search_run(store, line) for line in choices.get("search", [])],
        checks=[_extra_run(store, line, facts.metric) for line in choices.get("checks", [])],
        longer=[_extra_run(store, line, facts.metric) for line in choices.get("longer", [])],
        barred=choices.get("barred", {}),
        base=_base(store, kept, entry.study),
    )
    return with_display_names(record)


def _choose(kept: list[StudyEntry], requested: str | None) -> StudyEntry | None:
    """Choose the newest study that is meant: by id or name, else by the beginning of its id."""
    if requested is None:
        return kept[0]
    for entry in kept:
        if requested in (entry.id, entry.name):
            return entry
    return next((entry for entry in kept if entry.id.startswith(requested)), None)


def _entrants(store: Store, entry: StudyEntry, unit: str) -> list[EntrantRecord]:
    """Gather the reported runs of a study by entrant."""
    found: dict[str, EntrantRecord] = {}
    for name, encoding, digest, code in entry.runs:
        if name not in found:
            chosen = _points(entry.choices["rates"].get(name, []))
            found[name] = EntrantRecord(name, encoding, chosen)
        entrant, run = found[name], store.find(digest, code)
        if run is None:
            entrant.failures.append("missing from the store")
            continue
        entrant.digests.append(digest)
        entrant.codes.append(code)
        if run.status != "done":
            entrant.failures.append(f"{unit} {run.config['seed']}: {run.error}")
            continue
        entrant.seeds.append(run.config["seed"])
        entrant.histories.append(run.history)
        entrant.notes.append(run.notes)
        for metric, value in run.metrics.items():
            entrant.metrics.setdefault(metric, []).append(value)
        for part, value in run.cost.items():
            entrant.costs.setdefault(part, []).append(value)
    return list(found.values())


def _base(store: Store, kept: list[StudyEntry], study: dict[str, Any]) -> StudyRecord | None:
    """Read the newest of the studies that this one repeats: by name, and with the same task."""
    repeats = study.get("repeats")
    if repeats == study["name"]:
        return None
    for entry in kept:
        same = all(entry.study[key] == study[key] for key in ("task", "task_options"))
        if entry.name == repeats and same:
            return read_record(store, entry.id)
    return None


def _points(chosen: Any) -> list[Point]:
    """Read the choice for each seed; records of one search for all seeds hold one choice."""
    if isinstance(chosen, dict):
        return [(chosen["rate"], chosen["positional_rate"])] if chosen else []
    return [(rate, positional) for rate, positional in chosen]


def _search_run(store: Store, line: list[Any]) -> SearchRun:
    name, search, rate, positional, value, digest, code = line
    run = store.find(digest, code)
    return SearchRun(name, search, (rate, positional), value, run.cost if run else {})


def _extra_run(store: Store, line: list[Any], metric: str) -> ExtraRun:
    name, rate, positional, digest, code = line
    run = store.find(digest, code)
    if run is None or run.status != "done":
        return ExtraRun(name, (rate, positional), None, [], {}, 0)
    steps = run.config["training"]["steps"]
    return ExtraRun(name, (rate, positional), run.metrics[metric], run.history, run.cost, steps)
