"""A finished study read back from the store: scores seed by seed, costs, failures. No torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from locant._internal.checks import did_you_mean
from locant.lab.store.naming import for_people
from locant.lab.store.store import Store
from locant.lab.tasks import UNSEEN

Point = tuple[float, float]
ONE = {"seeds": "seed", "series": "series"}  # of many


@dataclass
class RowRecord:
    """What the runs of one row gave."""

    name: str
    encoding: str
    chosen: list[
        Point
    ]  # for each reported seed, what its search chose: times the rate, times the positional rate
    metrics: dict[str, list[float]] = field(default_factory=dict)
    seeds: list[int] = field(
        default_factory=list
    )  # of the runs that ended well, in the order of their metrics
    histories: list[list[dict[str, float]]] = field(default_factory=list)  # likewise
    costs: dict[str, list[float]] = field(default_factory=dict)  # likewise
    notes: list[dict[str, Any]] = field(
        default_factory=list
    )  # likewise: what pictures are made from
    digests: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)  # of the code that computed them
    failures: list[str] = field(default_factory=list)

    @property
    def usual(self) -> Point:
        """What most searches of the row chose; of equals the first."""
        return max(self.chosen, key=self.chosen.count, default=(1.0, 1.0))

    @property
    def cost(self) -> dict[str, float]:
        """The median over runs, which one slow moment of a machine does not move."""
        return {part: float(np.median(values)) for part, values in self.costs.items()}

    def scores(self, metric: str) -> np.ndarray:
        return np.array(self.metrics.get(metric, []), float)


@dataclass(frozen=True)
class Tried:
    """One run of a search, and what it came to: the lower, the better, None when it failed."""

    name: str
    search: int
    point: Point
    value: float | None
    cost: dict[str, float]


@dataclass(frozen=True)
class Extra:
    """A run that is not reported with its row: what it scored, None when it failed, and its validations."""

    name: str
    point: Point
    score: float | None
    history: list[dict[str, float]]
    cost: dict[str, float]
    steps: int


@dataclass
class StudyRecord:
    """A study and all that answers it."""

    id: str
    study: dict[str, Any]
    facts: dict[str, Any]
    command: str
    rows: list[RowRecord]
    finished: float = 0.0  # seconds since 1970
    search: list[Tried] = field(
        default_factory=list
    )  # what was tried, by seeds that are not reported
    checks: list[Extra] = field(default_factory=list)  # fixed points of the grid on fresh seeds
    longer: list[Extra] = field(default_factory=list)  # rows that were not learnt, with more steps
    barred: dict[str, float] = field(default_factory=dict)  # rows that cannot pass an exact ceiling
    base: StudyRecord | None = None  # the study that this one repeats, where the store holds it

    @property
    def unit(self) -> str:
        """What a run's seed numbers, many of them: seeds, or series."""
        return str(self.study.get("unit", "seeds"))

    @property
    def one(self) -> str:
        """One of them."""
        return ONE[self.unit]

    def called(self, seed: int) -> str:
        """The name of what a seed numbers; the number where it has none."""
        names = self.facts.get("names", [])
        return str(names[seed]) if seed < len(names) else str(seed)

    @property
    def controls(self) -> list[str]:
        """The rows that only show what is not positional."""
        own = [row["name"] for row in self.study["encodings"] if row["control"]]
        return list(dict.fromkeys([*self.study["controls"], *own]))

    @property
    def complete(self) -> dict[str, np.ndarray]:
        """The deciding scores of the rows in which no run failed."""
        metric = self.facts["metric"]
        return {row.name: row.scores(metric) for row in self.rows if not row.failures}


def read_record(store: Store, asked: str | None = None) -> StudyRecord:
    """A study by its id or name (the newest of that name); the newest of all by default."""
    kept = store.studies()
    if not kept:
        raise ValueError(
            f"the store {store.path} holds no study yet. Run one: locant compare order --quick"
        )
    ways = (
        lambda e: asked is None,
        lambda e: asked in (e["id"], e["name"]),
        lambda e: e["id"].startswith(str(asked)),
    )
    found = next((some for way in ways if (some := [entry for entry in kept if way(entry)])), [])
    if not found:
        known = [entry["id"] for entry in kept]
        raise ValueError(
            f"no study {asked!r} is kept in {store.path}.{did_you_mean(str(asked), known)}\n  Kept: {', '.join(known)}"
        )
    entry = found[0]
    rows: dict[str, RowRecord] = {}
    one = ONE[entry["study"].get("unit", "seeds")]
    for name, encoding, digest, code in entry["runs"]:
        row = rows.setdefault(
            name, RowRecord(name, encoding, _points(entry["choices"]["rates"].get(name, [])))
        )
        run = store.find(digest, code)
        if run is None:
            row.failures.append("missing from the store")
            continue
        row.digests.append(digest)
        row.codes.append(code)
        if run.status != "done":
            row.failures.append(f"{one} {run.config['seed']}: {run.error}")
            continue
        row.seeds.append(run.config["seed"])
        row.histories.append(run.history)
        row.notes.append(run.notes)
        for metric, value in run.metrics.items():
            row.metrics.setdefault(metric, []).append(value)
        for part, value in run.cost.items():
            row.costs.setdefault(part, []).append(value)
    choices = entry["choices"]
    facts = {"tested_on": UNSEEN, **choices["facts"]}
    told = (
        entry["id"],
        entry["study"],
        facts,
        entry["command"],
        list(rows.values()),
        entry["finished"],
    )
    record = StudyRecord(
        *told,
        search=[_tried(store, line) for line in choices.get("search", [])],
        checks=[_extra(store, line, facts["metric"]) for line in choices.get("checks", [])],
        longer=[_extra(store, line, facts["metric"]) for line in choices.get("longer", [])],
        barred=choices.get("barred", {}),
        base=_base(store, kept, entry["study"]),
    )
    return for_people(record)


def _base(store: Store, kept: list[dict[str, Any]], study: dict[str, Any]) -> StudyRecord | None:
    """The newest of the studies that this one repeats: by name, and with the same task."""
    task = ("task", "task_options")
    same = [
        e
        for e in kept
        if e["name"] == study.get("repeats") and all(e["study"][k] == study[k] for k in task)
    ]
    return (
        read_record(store, same[0]["id"])
        if same and study.get("repeats") != study["name"]
        else None
    )


def _points(chosen: Any) -> list[Point]:
    """What was chosen for each seed; records of one search for all seeds hold one choice."""
    if isinstance(chosen, dict):
        return [(chosen["rate"], chosen["positional_rate"])] if chosen else []
    return [(rate, positional) for rate, positional in chosen]


def _tried(store: Store, line: list[Any]) -> Tried:
    name, search, rate, positional, value, digest, code = line
    run = store.find(digest, code)
    return Tried(name, search, (rate, positional), value, run.cost if run else {})


def _extra(store: Store, line: list[Any], metric: str) -> Extra:
    name, rate, positional, digest, code = line
    run = store.find(digest, code)
    if run is None or run.status != "done":
        return Extra(name, (rate, positional), None, [], {}, 0)
    steps = run.config["training"]["steps"]
    return Extra(name, (rate, positional), run.metrics[metric], run.history, run.cost, steps)
