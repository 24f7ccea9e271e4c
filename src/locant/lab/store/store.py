"""The store: one SQLite file is the truth. A run is known by the digest of its settings and of the code that ran it."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from locant.lab.store.faults import cannot
from locant.lab.store.schema import prepare

STALE = 30.0  # seconds without a sign of life after which another driver's claim is void


def without_store(command: str) -> str:
    """Leave the path of the store out of a command.

    >>> without_store("locant compare order --store '/some where/runs.sqlite' --quick")
    'locant compare order --quick'
    >>> without_store("locant compare order --store=runs.sqlite")
    'locant compare order'
    """
    try:
        words = iter(shlex.split(command))
    except ValueError:  # quotes that were lost on the way
        words = iter(command.split())
    kept = []
    for word in words:
        if word == "--store":
            next(words, None)
        elif not word.startswith("--store="):
            kept.append(word)
    return shlex.join(kept)


@dataclass(frozen=True)
class Kept:
    """A run that has ended, well or not."""

    digest: str
    code: str
    config: dict[str, Any]
    status: str
    metrics: dict[str, float]
    history: list[dict[str, float]]
    cost: dict[str, float]
    error: str
    notes: dict[str, Any] = field(default_factory=dict)


class Store:
    """Runs and studies in one file. Every write is one transaction, so nothing is ever half there."""

    timeout = 60.0  # seconds to wait for another program that holds the file

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.owner = f"{socket.gethostname()}/{os.getpid()}"
        with self._told("opened", self.timeout):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._open("opened") as base:
            prepare(base, self.path)

    @contextmanager
    def _open(
        self, purpose: str = "read", timeout: float | None = None
    ) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it, or nothing and a StoreError."""
        timeout = self.timeout if timeout is None else timeout
        with (
            self._told(purpose, timeout),
            closing(sqlite3.connect(self.path, timeout=timeout)) as base,
            base,
        ):
            yield base

    @contextmanager
    def _told(self, purpose: str, timeout: float) -> Iterator[None]:
        """What SQLite and the system say, as a sentence."""
        try:
            yield
        except (sqlite3.Error, OSError, json.JSONDecodeError) as problem:
            raise cannot(self.path, purpose, problem, timeout) from None

    def find(self, digest: str, code: str | None) -> Kept | None:
        """A run by its settings and code; with code None the newest by any code."""
        query = "SELECT digest, code, config, status, metrics, history, cost, error, notes FROM runs WHERE digest = ?"
        values: tuple[str, ...] = (digest,)
        if code is not None:
            query, values = query + " AND code = ?", (digest, code)
        with self._open() as base:
            row = base.execute(query + " ORDER BY finished DESC LIMIT 1", values).fetchone()
            return None if row is None else _kept(row)

    def keep(self, *runs: Kept) -> None:
        """Write runs that have ended, all or none; a run that is kept already stays as it is."""
        with self._open("written") as base:
            base.executemany(
                "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, runs)
            )
            claims = [(run.digest, run.code) for run in runs]
            base.executemany("DELETE FROM claims WHERE digest = ? AND code = ?", claims)

    def forget_failures(self, digests: list[str]) -> None:
        """Failed runs are tried again when they are asked for again."""
        with self._open("written") as base:
            base.executemany(
                "DELETE FROM runs WHERE digest = ? AND status = 'failed'",
                [(digest,) for digest in digests],
            )

    def claim(self, digest: str, code: str) -> bool:
        """Take a run for this driver; False when another living driver has it, or has finished it."""
        now = time.time()
        with self._open("written") as base:
            base.execute("BEGIN IMMEDIATE")
            if base.execute(
                "SELECT 1 FROM runs WHERE digest = ? AND code = ?", (digest, code)
            ).fetchone():
                return False
            base.execute("DELETE FROM claims WHERE seen < ?", (now - STALE,))
            base.execute(
                "INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)", (digest, code, self.owner, now)
            )
            (owner,) = base.execute(
                "SELECT owner FROM claims WHERE digest = ? AND code = ?", (digest, code)
            ).fetchone()
        return bool(owner == self.owner)

    def alive(self) -> None:
        """A sign of life for all claims of this driver; never waits for longer than there is between two of them."""
        with self._open("written", STALE / 6) as base:
            base.execute("UPDATE claims SET seen = ? WHERE owner = ?", (time.time(), self.owner))

    def release(self) -> None:
        """Give back what this driver claimed and did not finish."""
        with self._open("written", STALE / 6) as base:
            base.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))

    def keep_study(
        self,
        study_id: str,
        study: dict[str, Any],
        choices: dict[str, Any],
        runs: list[Any],
        command: str,
        finished: float | None = None,
    ) -> None:
        """Write or renew what a study asked for and which runs answer it; finished now by default.

        command  kept as what was asked, without where this machine has its runs
        """
        command = without_store(command)
        texts = [json.dumps(part, sort_keys=True) for part in (study, choices, runs)]
        with self._open("written") as base:
            base.execute(
                "INSERT OR REPLACE INTO studies VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    study_id,
                    study["name"],
                    *texts,
                    command,
                    time.time() if finished is None else finished,
                ),
            )

    def studies(self) -> list[dict[str, Any]]:
        """Every study that was kept, newest first."""
        with self._open() as base:
            rows = base.execute(
                "SELECT id, name, study, choices, runs, command, finished FROM studies ORDER BY finished DESC"
            ).fetchall()
            return [_study(row) for row in rows]


def named(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """The digest and code of every run that a kept study names: reported, searched, checked, looked at for longer."""
    others = [
        line for part in ("search", "checks", "longer") for line in entry["choices"].get(part, [])
    ]
    return [(digest, code) for *_, digest, code in [*entry["runs"], *others]]


def _row(run: Kept) -> tuple[str | float, ...]:
    texts = (json.dumps(part, sort_keys=True) for part in (run.metrics, run.history, run.cost))
    config, notes = json.dumps(run.config, sort_keys=True), json.dumps(run.notes)
    return run.digest, run.code, config, run.status, *texts, run.error, time.time(), notes


def _kept(row: tuple[Any, ...]) -> Kept:
    digest, code, config, status, metrics, history, cost, error, notes = row
    config, metrics, history, cost, notes = map(json.loads, (config, metrics, history, cost, notes))
    return Kept(digest, code, config, status, metrics, history, cost, error, notes)


def _study(row: tuple[Any, ...]) -> dict[str, Any]:
    study_id, name, study, choices, runs, command, finished = row
    parts = {"study": json.loads(study), "choices": json.loads(choices), "runs": json.loads(runs)}
    return {"id": study_id, "name": name, **parts, "command": command, "finished": finished}
