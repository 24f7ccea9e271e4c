"""Studies that are not finished: runs that no kept study names, and runs being computed now."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from locant.anomaly.baselines import shown
from locant.lab.store.store import STALE, Store
from locant.lab.study import FIRST_SEARCH_SEED

RUNS = "SELECT digest, config, status, metrics, finished FROM runs ORDER BY finished"


@dataclass
class Unfinished:
    """The runs of one task at one size, so far."""

    task: str
    options: dict[str, Any]
    searched: int = 0  # runs that choose rates and are not reported
    rows: dict[str, list[dict[str, float]]] = field(default_factory=dict)  # metrics of good runs
    failed: dict[str, int] = field(default_factory=dict)
    last: float = 0.0  # when the newest run ended, in seconds since 1970


def in_flight(store: Store) -> int:
    """Count the runs that are being computed, by all drivers that give signs of life."""
    with closing(_read_only(store)) as base:
        (count,) = base.execute(
            "SELECT COUNT(*) FROM claims WHERE seen > ?", (time.time() - STALE,)
        ).fetchone()
    return int(count)


def unfinished(store: Store) -> list[Unfinished]:
    """List unfinished studies, newest first; the search of a kept study is none of its own."""
    kept = {digest for entry in store.studies() for digest, _ in entry.run_keys()}
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
    """Return what the runs of one study have in common, as text."""
    varied = ("rate", "positional_rate", "test", "abandon_above")  # by the search
    training = {name: value for name, value in run["training"].items() if name not in varied}
    return json.dumps([run["task"], run["task_options"], run["model"], training], sort_keys=True)


def _read_only(store: Store) -> sqlite3.Connection:
    """Connect to a store so that nothing can change and no driver is disturbed."""
    return sqlite3.connect(
        f"{store.path.resolve().as_uri()}?mode=ro", uri=True, timeout=store.timeout
    )
