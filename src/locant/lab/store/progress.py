"""Studies that are not finished: the runs in a store that no kept study names, and how many are being computed."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from locant.anomaly.baselines import shown
from locant.lab.store.store import STALE, Store, named
from locant.lab.store.study import FIRST_SEARCH_SEED

RUNS = "SELECT digest, config, status, metrics, finished FROM runs ORDER BY finished"


@dataclass
class Unfinished:
    """The runs of one task at one size, so far."""

    task: str
    options: dict[str, Any]
    searched: int = 0  # runs that choose rates and are not reported
    rows: dict[str, list[dict[str, float]]] = field(
        default_factory=dict
    )  # the metrics of every run that ended well
    failed: dict[str, int] = field(default_factory=dict)
    last: float = 0.0  # when the newest run ended, in seconds since 1970


def in_flight(store: Store) -> int:
    """How many runs are being computed, by all drivers that give signs of life."""
    with closing(_read_only(store)) as base:
        (count,) = base.execute(
            "SELECT COUNT(*) FROM claims WHERE seen > ?", (time.time() - STALE,)
        ).fetchone()
    return int(count)


def unfinished(store: Store) -> list[Unfinished]:
    """Newest first; what was searched for a study that is kept is no study of its own."""
    kept = {digest for entry in store.studies() for digest, _ in named(entry)}
    found: dict[str, Unfinished] = {}
    done = set()
    with closing(_read_only(store)) as base:
        for digest, config, status, metrics, finished in base.execute(RUNS):
            run = json.loads(config)
            name = shown(run["baseline"]) if run.get("baseline") else run["name"]
            key = _kind(run)
            if digest in kept:
                done.add(key)
                continue
            group = found.setdefault(key, Unfinished(run["task"], run["task_options"]))
            group.last = finished
            if run["seed"] >= FIRST_SEARCH_SEED:
                group.searched += 1
            elif status == "done":
                group.rows.setdefault(name, []).append(json.loads(metrics))
            else:
                group.failed[name] = group.failed.get(name, 0) + 1
    own = [group for key, group in found.items() if key not in done or group.rows or group.failed]
    return sorted(own, key=lambda group: -group.last)


def _kind(run: dict[str, Any]) -> str:
    """What the runs of one study have in common."""
    varied = ("rate", "positional_rate", "test", "abandon_above")  # by the search
    training = {name: value for name, value in run["training"].items() if name not in varied}
    return json.dumps([run["task"], run["task_options"], run["model"], training], sort_keys=True)


def _read_only(store: Store) -> sqlite3.Connection:
    """A look that can change nothing and disturbs no driver."""
    return sqlite3.connect(
        f"{store.path.resolve().as_uri()}?mode=ro", uri=True, timeout=store.timeout
    )
